// The texts of Python's str objects, read in place as UTF-8. Any thread whose frames hold the object.
#ifndef TRACKER_STACKS_CODE_TEXT_H_
#define TRACKER_STACKS_CODE_TEXT_H_

#include <cstddef>

#include "tracker/stacks/frame_layout.h"

namespace memoir {

// At most `size` - 1 bytes and a zero; a character that does not fit whole is left out, with all behind it. "" where it
// is no text that can be read in place. Returns its bytes.
std::size_t CopyText(const FrameLayout& layout, const char* object, char* to, std::size_t size);

}  // namespace memoir

#endif  // TRACKER_STACKS_CODE_TEXT_H_
