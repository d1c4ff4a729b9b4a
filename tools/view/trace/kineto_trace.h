// Reads a trace of torch.profiler's export_chrome_trace (Kineto's format) so that other events can be inserted. The
// text of the trace stays unchanged.
#ifndef TOOLS_VIEW_TRACE_KINETO_TRACE_H_
#define TOOLS_VIEW_TRACE_KINETO_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"

namespace memoir {

struct KinetoTrace {
  std::string text;
  std::size_t events_end = 0;  // position in `text` of the "]" after the last event
  bool has_events = false;
  std::int64_t base_ns = 0;    // time 0 of the trace, since the Unix epoch
  std::uint64_t begin_ns = 0;  // begin of the first event, and end of the last event, since the Unix epoch
  std::uint64_t end_ns = 0;
  absl::flat_hash_set<std::uint64_t> pids;  // processes with events in the trace

  std::string_view before() const { return std::string_view(text).substr(0, events_end); }
  std::string_view after() const { return std::string_view(text).substr(events_end); }
};

// `text`: the file's contents, plain or gzip. InvalidArgument if it is not such a trace, or if its times cannot be
// converted to times since 1970.
absl::StatusOr<KinetoTrace> ReadKinetoTrace(std::string text);

}  // namespace memoir

#endif  // TOOLS_VIEW_TRACE_KINETO_TRACE_H_
