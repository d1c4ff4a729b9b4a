// Two recordings compared at their peaks (or at another instant): per device the difference, and rows that sum to it.
//
// Differences are of the second, B, against the first, A: what B has more is positive. Names are those of B.
#ifndef TOOLS_ANALYZE_COMPARE_COMPARISON_H_
#define TOOLS_ANALYZE_COMPARE_COMPARISON_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/compare/held.h"
#include "tools/analyze/compare/module_names.h"
#include "tools/analyze/compare/renames.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"

namespace memoir {

enum class RowState : std::uint8_t { kNew, kGone, kGrown, kShrunk, kSame };
std::string_view ToString(RowState state);  // "new", "gone", ...

struct Amount {
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

struct ComparedRow {
  std::string name;           // as rows of `memoir show` with this grouping, modules without wrappers
  std::string name_a;         // where A calls it otherwise, as a line that moved; else ""
  CommonModule module;        // of rows of a module
  SourceLine source;          // of rows of a line
  bool is_line_of_a = false;  // A alone has the line, and `source` is A's
  Amount a, b;
  std::int64_t difference() const { return static_cast<std::int64_t>(b.bytes) - static_cast<std::int64_t>(a.bytes); }
  std::int64_t more_blocks() const { return static_cast<std::int64_t>(b.blocks) - static_cast<std::int64_t>(a.blocks); }
  RowState state() const;
};

// What of a device's difference has most to say: the line (of recordings with stacks; else the module or operator) that
// changed most in the direction of the whole, and what most of that is.
struct MainCause {
  std::string line;  // as rows are called; "": not known
  SourceLine source;
  std::string operator_name, module, category;  // ""; several, none of which is most of it
  std::int64_t bytes = 0;
  std::int64_t bytes_of_category = 0;  // at all lines
  std::size_t others = 0;              // lines that changed besides
};

// Rows that all are so many times as large in B: what a larger input or a wider data type does.
struct CommonFactor {
  double factor = 0;  // 0: there is none
  std::size_t rows = 0;
  std::int64_t bytes = 0;
};

struct ComparedSide {
  DeviceRow device;  // its peak and sums
  Amount held;       // at the instant; the rows sum to it
  std::uint64_t ns = 0;
  std::optional<Phase> phase;  // of the allocation that led there
  std::string module;
};

struct ComparedDevice {
  std::string name;
  std::optional<std::uint32_t> rank_a, rank_b;
  std::array<std::optional<ComparedSide>, 2> sides;  // A's and B's; one of them: the other recording has no such device
  std::vector<ComparedRow> rows;                     // largest differences first; of devices that both have
  MainCause cause;                                   // of one that one recording alone has: of all that it held
  MainCause reserved_cause;  // of reserved_difference(), its category a ReservedPlace; of peaks of all blocks
  CommonFactor factor;
  bool has_both() const { return sides[0] && sides[1]; }
  const ComparedSide& a() const { return *sides[0]; }
  const ComparedSide& b() const { return *sides[1]; }
  std::int64_t difference() const;           // at the instant
  std::int64_t peak_difference() const;      // of most allocated bytes
  std::int64_t reserved_difference() const;  // of most reserved bytes, where reserved_cause is known; else 0
  bool is_same() const;                      // no row differs
};

// Something in which the recordings themselves differ: "torch", "2.11.0", "2.15.0". Of "modules" those that the other
// has not; "": none.
struct Unlike {
  std::string what, a, b;
};

struct Comparison {
  GroupBy by = GroupBy::kLine;
  At at;
  std::vector<ComparedDevice> devices;  // that both have first: GPUs before hosts, largest difference first
  std::vector<Unlike> unlike;
  std::vector<Rename> unused_renames;
  bool of_snapshots = false;  // both are, and the instant is theirs
  std::string missing;        // what is not known of the rows, in one line; mostly empty
  ReplayReport report_a, report_b;
  // That the text is about; nullptr: no device is in both.
  const ComparedDevice* focus() const {
    return devices.empty() || !devices.front().has_both() ? nullptr : &devices.front();
  }
};

struct CompareOptions {
  Selection a, b;  // the same, but for what each recording counts as steps
  At at;
  std::optional<GroupBy> by;  // none: line, where either has lines; else module, else operator
  std::vector<Rename> renames;
};

// Errors are those of the analyses of each.
absl::StatusOr<Comparison> CompareCaptures(const Capture& a, const Capture& b, const CompareOptions& options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_COMPARISON_H_
