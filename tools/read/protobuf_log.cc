#include "tools/read/protobuf_log.h"

#if __has_include(<google/protobuf/stubs/logging.h>)  // up to protobuf 21
#include <google/protobuf/stubs/logging.h>
#else  // later versions log through Abseil
#include "absl/base/log_severity.h"
#include "absl/log/globals.h"
#endif

namespace memoir {

void SilenceProtobuf() {
#if __has_include(<google/protobuf/stubs/logging.h>)
  [[maybe_unused]] static const auto previous = google::protobuf::SetLogHandler(nullptr);
#else
  absl::SetStderrThreshold(absl::LogSeverityAtLeast::kInfinity);
#endif
}

}  // namespace memoir
