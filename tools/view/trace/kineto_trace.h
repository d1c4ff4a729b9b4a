// A trace that torch.profiler's export_chrome_trace wrote (Kineto's format), as far as others' events can be put into
// it: its text stays as it is.
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
  std::size_t events_end = 0;  // in `text`, of the "]" behind the last event
  bool has_events = false;
  std::int64_t base_ns = 0;    // since 1970: what is time 0 in it
  std::uint64_t begin_ns = 0;  // since 1970: of its first event, and the end of its last
  std::uint64_t end_ns = 0;
  absl::flat_hash_set<std::uint64_t> pids;  // processes that it has events of

  std::string_view before() const { return std::string_view(text).substr(0, events_end); }
  std::string_view after() const { return std::string_view(text).substr(events_end); }
};

// `text`: the file's contents, as they are or packed by gzip. InvalidArgument: it is no such trace, or says no time
// since 1970 (torch before 2.3).
absl::StatusOr<KinetoTrace> ReadKinetoTrace(std::string text);

}  // namespace memoir

#endif  // TOOLS_VIEW_TRACE_KINETO_TRACE_H_
