// A comparison of two captures at their peaks or at another instant: for each device the difference, and rows whose
// differences sum to it.
//
// A is the first capture, B is the second. A difference is B's value minus A's value. Names are B's names.
#ifndef TOOLS_ANALYZE_COMPARE_COMPARISON_H_
#define TOOLS_ANALYZE_COMPARE_COMPARISON_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analyze/compare/facts/capture_holdings.h"
#include "tools/analyze/compare/facts/line_peaks.h"
#include "tools/analyze/compare/match/module_names.h"
#include "tools/analyze/compare/match/renames.h"
#include "tools/analyze/compare/program_change.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"

namespace memoir {

enum class RowState : std::uint8_t { kNew, kGone, kGrown, kShrunk, kSame };
inline std::string_view ToString(RowState state) {
  constexpr std::string_view kWords[] = {"new", "gone", "grown", "shrunk", "same"};
  return kWords[static_cast<std::size_t>(state)];
}

struct Amount {
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
  // HeldPart::requested and HeldPart::before_step, summed. 0 in ComparedSide::held.
  std::uint64_t requested = 0;
  std::uint64_t before_step = 0;
};

struct ComparedRow {
  std::string name;           // as in `memoir show` with this grouping, but module paths omit wrapping modules (DDP)
  std::string name_a;         // A's name if it differs, for example for a line that moved; otherwise empty
  CommonModule module;        // for rows with a module
  SourceLine source;          // for rows with a line
  bool is_line_of_a = false;  // only A has the line, so `source` is the line in A
  Amount a, b;
  std::int64_t difference() const { return static_cast<std::int64_t>(b.bytes) - static_cast<std::int64_t>(a.bytes); }
  std::int64_t more_blocks() const { return static_cast<std::int64_t>(b.blocks) - static_cast<std::int64_t>(a.blocks); }
  RowState state() const {
    if (difference() == 0) return RowState::kSame;
    if (a.bytes == 0) return RowState::kNew;
    if (b.bytes == 0) return RowState::kGone;
    return difference() > 0 ? RowState::kGrown : RowState::kShrunk;
  }
};

// The main cause of a device's difference: the line whose requested bytes changed most in the direction of the
// difference, and the operator, module and category that make up most of the line's change. If the difference is less
// than a tenth of the largest growth of a line, the cause is the line that grew most. If no stacks were recorded, the
// cause is a module or an operator instead of a line.
struct MainCause {
  std::string line;    // label of the line; empty: unknown
  std::string line_a;  // A's label; empty if A lacks the line
  SourceLine source;
  std::string operator_name, module, category;  // each empty if no single value makes up most of the change
  bool is_all_in_module = false,
       is_all_of_category = false;   // the module, or the category, makes up at least 9/10 of the line's change
  RowState state = RowState::kSame;  // kNew: only B has bytes of the line; kGone: only A has them
  std::int64_t bytes = 0;
  std::int64_t more_blocks = 0;
  std::int64_t bytes_of_category = 0;  // difference of `category`, summed over all lines
  std::size_t others = 0;              // number of other lines that changed
  std::string shape_a, shape_b;        // of the line's largest tensor; empty if equal or if more_blocks is not 0
};

// A factor by which many rows are larger in B than in A. A larger input or a wider data type causes such a factor.
struct CommonFactor {
  double factor = 0;  // 0: no common factor
  std::size_t rows = 0;
  std::int64_t bytes = 0;
};

struct ComparedSide {
  DeviceRow device;  // the device's peak and sums
  Amount held;       // live at the instant; the sum of the rows
  std::uint64_t ns = 0;
  std::optional<Phase> phase;  // phase of the last allocation before the instant
  std::string module;
};

struct ComparedDevice {
  std::string name;
  std::optional<std::uint32_t> rank_a, rank_b;
  std::array<std::optional<ComparedSide>, 2> sides;  // A's and B's; nullopt if the capture has no such device
  std::vector<ComparedRow> rows;  // largest differences first; empty unless both captures have the device
  MainCause cause;                // if only one capture has the device: the main cause of its bytes
  // Main cause of reserved_difference(). Its category is a ReservedPlace. Unknown unless the instant is the peak and
  // all blocks are selected.
  MainCause reserved_cause;
  CommonFactor factor;
  std::vector<ProgramChange> causes;  // entries of Comparison::changes that may explain the difference, in their order
  std::vector<LineBelowPeak> below;   // lines and categories whose difference the peak does not show, largest first
  bool has_both() const { return sides[0] && sides[1]; }
  const ComparedSide& a() const { return *sides[0]; }
  const ComparedSide& b() const { return *sides[1]; }
  // Returns the difference of the live bytes at the instant.
  std::int64_t difference() const {
    return Difference([](const ComparedSide& side) { return side.held.bytes; });
  }
  // Returns the difference of the peaks of allocated bytes.
  std::int64_t peak_difference() const {
    return Difference([](const ComparedSide& side) { return side.device.peak_allocated_bytes; });
  }
  // Returns the difference of the peaks of reserved bytes. 0 if reserved_cause is unknown.
  std::int64_t reserved_difference() const {
    if (!has_both() || reserved_cause.bytes == 0) return 0;
    return Difference([](const ComparedSide& side) { return side.device.peak_reserved_bytes; });
  }
  bool is_same() const {  // no row differs
    return difference() == 0 && std::ranges::all_of(rows, [](const ComparedRow& row) {
             return row.difference() == 0 && row.more_blocks() == 0;
           });
  }

 private:
  template <class Bytes>  // std::uint64_t(const ComparedSide&)
  std::int64_t Difference(Bytes bytes) const {
    const std::uint64_t in_a = sides[0] ? bytes(*sides[0]) : 0, in_b = sides[1] ? bytes(*sides[1]) : 0;
    return static_cast<std::int64_t>(in_b) - static_cast<std::int64_t>(in_a);
  }
};

// A difference between the captures other than memory: "torch", "2.11.0", "2.15.0". For "modules", `a` lists modules
// that B lacks, and `b` lists modules that A lacks; each may be empty.
struct RecordingDifference {
  std::string what, a, b;
};

struct Comparison {
  GroupBy by = GroupBy::kLine;
  InstantChoice at;
  // Devices that are in both captures come first, GPUs before hosts, then the largest difference first. Devices that
  // only one capture has come last.
  std::vector<ComparedDevice> devices;
  std::vector<RecordingDifference> unlike;
  std::vector<ProgramChange> changes;
  std::vector<Rename> unused_renames;
  bool of_snapshots = false;  // both captures are snapshots, compared at the instants of the snapshots
  std::string missing;        // one line: the information that the rows lack; usually empty
  ReplayReport report_a, report_b;
  // Returns the device that the text of `memoir diff` describes. nullptr if no device is in both captures.
  const ComparedDevice* focus() const {
    return devices.empty() || !devices.front().has_both() ? nullptr : &devices.front();
  }
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_COMPARISON_H_
