// Live bytes over time as buckets of equal length, each with its largest value, so that the peak is never lost between
// them; of a device with a caching allocator active and reserved bytes, too, and the markers of every iteration.
#ifndef TOOLS_ANALYZE_TIME_OVER_TIME_H_
#define TOOLS_ANALYZE_TIME_OVER_TIME_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/pass/iterations.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"

namespace memoir {

struct Level {
  std::uint64_t peak_bytes = 0;
  std::uint64_t peak_ns = 0;
  std::vector<std::uint64_t> max_bytes;  // one per bucket: the most at any instant of it
};

// What of each bucket's most was of one category, at the instant when that was reached.
struct CategoryCurve {
  CategoryNumber category = 0;
  std::vector<std::uint64_t> bytes;  // one per bucket
};

struct DeviceCurve {
  std::string name;
  ProcessId process;
  std::optional<std::uint32_t> rank;      // empty: of no rank
  bool caching = false;                   // has a caching allocator
  Level allocated;                        // live
  Level active, reserved;                 // caching only
  std::vector<CategoryCurve> categories;  // OverTimeOptions::categories only; they add up to allocated.max_bytes
  std::vector<bool> known;                // one per bucket: false between windows, and in what --max-size evicted
  std::vector<bool> changes;              // one per bucket: one of the levels changed in it
  std::vector<Iteration> iterations;      // of its process; caching only
};

struct OverTime {
  std::uint64_t begin_ns = 0;  // of the first bucket
  std::uint64_t end_ns = 0;    // of the last
  std::vector<DeviceCurve> devices;
  bool has_windows = false;  // between which nothing is known
  std::string missing;       // as Summary's
  ReplayReport report;
};

inline bool HasEvicted(const OverTime& over_time) {
  return std::ranges::any_of(over_time.report.processes, [](const auto& process) { return !process.evicted.empty(); });
}

struct OverTimeOptions : Selection {
  std::size_t buckets = 60;
  bool categories = false;
};

absl::StatusOr<OverTime> AnalyzeOverTime(const Capture& capture, const OverTimeOptions& options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TIME_OVER_TIME_H_
