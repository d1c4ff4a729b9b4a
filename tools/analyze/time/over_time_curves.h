// Live bytes over time in buckets of equal length, each with its maximum, so that the peak is always visible. A device
// with a caching allocator also has active and reserved bytes, and the markers of every iteration.
#ifndef TOOLS_ANALYZE_TIME_OVER_TIME_CURVES_H_
#define TOOLS_ANALYZE_TIME_OVER_TIME_CURVES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/pass/iterations.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/analyze/pass/window/step_begins.h"
#include "tools/model/capture.h"

namespace memoir {

struct LevelCurve {
  std::uint64_t peak_bytes = 0;
  std::uint64_t peak_ns = 0;
  std::vector<std::uint64_t> max_bytes;  // one for each bucket: its maximum
};

// The bytes of one category at the instant of each bucket's maximum.
struct CategoryCurve {
  CategoryNumber category = 0;
  std::vector<std::uint64_t> bytes;  // one per bucket
};

struct DeviceCurve {
  std::string name;
  ProcessId process;
  std::optional<std::uint32_t> rank;      // empty: the process has no rank
  bool caching = false;                   // has a caching allocator
  LevelCurve allocated;                   // live bytes
  LevelCurve active, reserved;            // caching only
  std::vector<CategoryCurve> categories;  // sum to allocated.max_bytes; empty unless OverTimeOptions::categories is set
  std::vector<bool> known;    // one for each bucket: false between windows, and in parts that --max-size evicted
  std::vector<bool> changes;  // one for each bucket: true if a curve changed in it
  // Steps and iterations of the device's process; caching only.
  StepBegins steps;
  std::vector<Iteration> iterations;
};

struct OverTimeCurves {
  std::uint64_t begin_ns = 0;  // begin of the first bucket
  std::uint64_t end_ns = 0;    // end of the last bucket
  // Time before begin_ns that OverTimeOptions::most_start_up leaves out. 0: none.
  std::uint64_t omitted_ns = 0;
  std::vector<DeviceCurve> devices;
  bool has_windows = false;  // true: the selection has windows; the curves do not cover the time between them
  std::string missing;       // names information that the capture lacks; empty if it is complete
  ReplayReport report;
};

inline bool HasEvictedParts(const OverTimeCurves& over_time) {
  return std::ranges::any_of(over_time.report.processes, [](const auto& process) { return !process.evicted.empty(); });
}

struct OverTimeOptions : Selection {
  std::size_t buckets = 60;
  // The largest share of the buckets that may lie before the first segment of a caching allocator. If start-up takes
  // longer, the buckets begin later. Ignored if the selection has windows.
  double most_start_up = 1;
  bool categories = false;
};

absl::StatusOr<OverTimeCurves> AnalyzeOverTime(const Capture& capture, const OverTimeOptions& options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TIME_OVER_TIME_CURVES_H_
