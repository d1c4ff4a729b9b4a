// Encodes how a process ended, for the last chunk of its recording.
#ifndef TRACKER_WRITER_FILE_END_MESSAGE_H_
#define TRACKER_WRITER_FILE_END_MESSAGE_H_

#include <string_view>

#include "protozero/pbf_writer.hpp"

namespace memoir {

// Adds the text of memoir_uncaught (tracker/memoir.h) to an End: the message, and then the frames of the traceback.
void AddEndMessage(std::string_view text, protozero::pbf_writer* end);

}  // namespace memoir

#endif  // TRACKER_WRITER_FILE_END_MESSAGE_H_
