// Encodes how a process ended, for the last chunk of its recording.
#ifndef TRACKER_WRITER_FILE_END_MESSAGE_H_
#define TRACKER_WRITER_FILE_END_MESSAGE_H_

#include <string_view>

#include "protozero/pbf_writer.hpp"

namespace memoir {

// Adds `text` to `end`, an End message of capture.proto. `text` has the format of memoir_uncaught (tracker/memoir.h):
// an error message, and then the frames of a traceback, if there is one.
void AddEndMessage(std::string_view text, protozero::pbf_writer* end);

}  // namespace memoir

#endif  // TRACKER_WRITER_FILE_END_MESSAGE_H_
