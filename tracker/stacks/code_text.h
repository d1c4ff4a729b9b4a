// Copies the text of a Python str object, such as the file name of code, as UTF-8. Reads the object in place, without
// calling Python. Call it on a thread that runs a frame with a reference to the object.
#ifndef TRACKER_STACKS_CODE_TEXT_H_
#define TRACKER_STACKS_CODE_TEXT_H_

#include <cstddef>

#include "tracker/stacks/frame_layout.h"

namespace memoir {

// Copies at most `size` - 1 bytes of the text, and a NUL. Stops before the first character that does not fit
// completely. Copies "" if the text cannot be read in place. Returns the number of bytes without the NUL.
std::size_t CopyText(const FrameLayout& layout, const char* object, char* to, std::size_t size);

}  // namespace memoir

#endif  // TRACKER_STACKS_CODE_TEXT_H_
