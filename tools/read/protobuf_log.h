// libprotobuf writes lines of its own to standard error, of text that is not UTF-8 for one. The reader says damage
// once, with file and offset.
#ifndef TOOLS_READ_PROTOBUF_LOG_H_
#define TOOLS_READ_PROTOBUF_LOG_H_

namespace memoir {

// From here on libprotobuf writes nothing. Any thread, any number of times.
void SilenceProtobuf();

}  // namespace memoir

#endif  // TOOLS_READ_PROTOBUF_LOG_H_
