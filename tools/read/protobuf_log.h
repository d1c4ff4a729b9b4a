// Silences libprotobuf, which prints lines on standard error, for example for text that is not UTF-8. The reader
// reports damage itself, once, with file and offset.
#ifndef TOOLS_READ_PROTOBUF_LOG_H_
#define TOOLS_READ_PROTOBUF_LOG_H_

namespace memoir {

// After this call, libprotobuf prints nothing. Any thread, any number of calls.
void SilenceProtobuf();

}  // namespace memoir

#endif  // TOOLS_READ_PROTOBUF_LOG_H_
