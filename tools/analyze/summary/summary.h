// Allocated, kept and peak memory in bytes: totals per device and rows per operator (or another grouping), in one
// pass.
//
// Every column sums over the rows to the device's total, exactly. Rows hold all of them; leaving out the small ones is
// the view's work.
#ifndef TOOLS_ANALYZE_SUMMARY_SUMMARY_H_
#define TOOLS_ANALYZE_SUMMARY_SUMMARY_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/categories/parameter_book.h"
#include "tools/analyze/checkpointing/checkpointing.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/oom/out_of_memory.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"

namespace memoir {

// Inside the window, of the blocks that a row allocated. For rows "(before the window)": blocks that were live at its
// begin.
struct Columns {
  std::uint64_t allocations = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t deallocations = 0;
  std::uint64_t deallocated_bytes = 0;
  std::uint64_t net_blocks = 0;  // live at the window's end
  std::uint64_t net_bytes = 0;
  std::uint64_t bytes_at_peak = 0;  // of its device; sums over devices are of peaks at different times
  std::uint64_t blocks_at_peak = 0;
  std::uint64_t temporaries = 0;  // freed before the operator call that allocated them ended
  std::uint64_t temporary_bytes = 0;
  std::uint64_t life_ns = 0;         // summed over `lives`
  std::uint64_t reserved_bytes = 0;  // of segments that the allocator took from the device for it
  std::uint64_t lives = 0;           // the deallocations whose allocation is known in time: not those of folded parts
  double mean_life_ns() const { return lives == 0 ? 0 : static_cast<double>(life_ns) / static_cast<double>(lives); }
  Columns& operator+=(const Columns& other) { return Add(other, 1); }
  Columns& Add(const Columns& other, std::uint64_t times);  // modulo 2^64
  bool operator==(const Columns&) const = default;
};

// Of events in parts that are gone (a size cap removed them), as the first keyframe left knows them: per operator, over
// all devices.
struct Folded {
  std::uint64_t count = 0;
  std::uint64_t outermost_count = 0;
  std::uint64_t allocations = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t deallocated_bytes = 0;
  Folded& operator+=(const Folded& other) { return Add(other, 1); }
  Folded& Add(const Folded& other, std::uint64_t times);  // modulo 2^64
  bool operator==(const Folded&) const = default;
};

// What a row of GroupBy::kModule has besides. `name` of such a row is its path, or its root where that is empty.
struct ModuleFacts {
  std::string root;
  std::string path;
  std::string class_name;
  using ByPhase = std::array<Columns, kPhases>;  // by Phase
  ByPhase by_phase{};                            // they sum to the row's total
  std::vector<ByPhase> by_device;                // as Summary::devices
};

// What a row of GroupBy::kParameter has besides. They sum to the row's total.
struct ParameterFacts {
  using ByPart = std::array<Columns, kParameterParts>;  // by ParameterPart
  ByPart by_part{};
  std::vector<ByPart> by_device;  // as Summary::devices
  bool is_buffer = false;
  std::string root;  // class of the outermost module around it; "": of none
};

struct Row {
  enum class Kind : std::uint8_t {
    kNamed,
    kNone,       // "(no operator)", "(no range)", ...: allocated outside of any
    kWorkspace,  // "(library workspace)": of no operator or module, see Grouping::TellsWorkspaces
    kBefore,     // "aten::mm (before the window)", or "(before the window)" where nothing more is known or asked
    kFolded,     // "(in evicted parts)": sums from a keyframe that does not know this grouping
  };
  std::string name;
  Kind kind = Kind::kNamed;
  std::uint64_t count = 0;            // calls that began in the window, at any depth; operator, leaf, range, module
  std::uint64_t outermost_count = 0;  // of these, with no operator (of modules: no module) around
  Columns total;                      // over all devices
  std::vector<Columns> by_device;     // as Summary::devices
  Folded folded;                      // of `total` and the counts; GroupBy::kOperator only
  ModuleFacts module;                 // GroupBy::kModule only
  ParameterFacts parameter;           // GroupBy::kParameter only
  SourceLine source;                  // GroupBy::kLine and kCategoryLine only
  std::vector<GeneratedPlace> via;    // likewise: code that a compiler generated for it, which allocated
  // GroupBy::kCategory, kCategoryModule and kCategoryLine only: "ACTIVATION", "recomputed" or "".
  std::string_view category, detail;
};

struct DeviceRow {
  std::string name;  // "cpu", "cuda:0"
  std::string product;
  ProcessId process;
  std::optional<std::uint32_t> rank;       // empty: of no rank
  std::uint64_t peak_allocated_bytes = 0;  // most bytes live in the window; the rows sum to it
  std::uint64_t peak_blocks = 0;
  std::uint64_t peak_of_all_bytes = 0;     // live then in all blocks; of a selection that leaves some out
  std::uint64_t peak_ns = 0;               // when, by the allocation that reached it first:
  std::string peak_operator;               // its operator, "" outside of any
  SourceLine peak_line;                    // the line that it is of; none: not known
  std::string peak_range;                  // its innermost user range, "" outside of any
  std::optional<std::uint64_t> peak_step;  // the step in which it was, by what counts as one in its process
  // Of what torch.compile made while it worked: live at the peak; and the peak that there would have been without.
  std::uint64_t compile_bytes_at_peak = 0;
  std::uint64_t peak_without_compile_bytes = 0;
  std::uint64_t live_bytes_at_begin = 0;  // of the window
  std::uint64_t live_bytes_at_end = 0;
  std::uint64_t live_blocks_at_end = 0;
  std::uint64_t allocations = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t deallocations = 0;
  std::uint64_t deallocated_bytes = 0;
  std::uint64_t unattributed_bytes = 0;   // allocated outside of any operator
  std::uint64_t first_seen_storages = 0;  // as arguments, allocated by somebody else or before; not in any other number
  std::uint64_t first_seen_bytes = 0;
  // Of a device with a caching allocator. Peaks and counts are those inside the window.
  bool caching = false;
  bool active_known = true;  // false: active bytes are taken to be those allocated, requested ones those of the blocks
  std::uint64_t peak_active_bytes = 0;
  std::uint64_t peak_active_ns = 0;
  std::uint64_t peak_reserved_bytes = 0;
  std::uint64_t peak_reserved_ns = 0;
  std::uint64_t active_bytes_at_end = 0;
  std::uint64_t reserved_bytes_at_end = 0;
  std::uint64_t active_bytes_at_peak = 0;          // at peak_ns
  std::uint64_t requested_bytes_at_peak = 0;       // asked for of what was active at peak_ns; the rest is rounding
  std::uint64_t reserved_bytes_at_peak = 0;        // at peak_ns
  std::optional<std::uint64_t> num_alloc_retries;  // empty: not known
  std::uint64_t num_ooms = 0;
  std::uint64_t compiled_allocations = 0;  // as of the summary
  std::uint64_t compiled_bytes = 0;
  // What the driver gave past torch's caching allocator, when that was most; and the fullest reading of the device.
  std::uint64_t outside_bytes = 0;
  std::vector<Holder> outside;              // largest first
  std::optional<std::uint64_t> least_free;  // empty: no reading
  std::uint64_t total_bytes = 0;            // of the device, where there is one
  // True: the peak lies in evicted parts. What was live at it, and what ran, is not known; the row "(in evicted parts)"
  // has its bytes.
  bool peak_is_folded = false;
  std::uint64_t newest_peak_bytes = 0;  // then: the most that was live since, in the parts that are left
  std::uint64_t newest_peak_ns = 0;
  // From the first keyframe left: sums of the parts before it, which the numbers above include. 0 when nothing is
  // folded.
  std::uint64_t folded_peak_bytes = 0;
  std::uint64_t folded_peak_ns = 0;
  std::uint64_t folded_allocations = 0;
  std::uint64_t folded_allocated_bytes = 0;
  std::uint64_t folded_deallocations = 0;
  std::uint64_t folded_live_bytes = 0;  // at their end
  // GroupBy::kCategory only: the modules that would lower the peak most were they checkpointed, where that is worth it.
  std::optional<CheckpointRow> checkpointing;
};

struct ProcessRow {
  ProcessId process;
  std::optional<std::uint32_t> rank;  // empty: of no rank
  std::uint64_t pid = 0;
  std::uint64_t duration_ns = 0;
  v1::Counters counters;
  v1::End end;
};

struct Mark {
  std::string name;
  std::uint64_t ns = 0;
  ProcessId process;
};

// Where parts were folded away and no window was asked for, sums are of the whole run wherever the first keyframe left
// knows them: peaks, allocations and deallocations of devices, calls, allocations and bytes of operators, events.
// Temporaries, lives, threads, steps and marks are of the parts left.
struct Summary {
  GroupBy by = GroupBy::kOperator;
  bool folded = false;  // such sums are in it
  std::vector<DeviceRow> devices;
  std::vector<Row> rows;  // most allocated bytes first; "(...)" rows last
  std::vector<ProcessRow> processes;
  std::vector<Mark> marks;     // at most 1,000 of them
  std::uint64_t begin_ns = 0;  // of the window
  std::uint64_t end_ns = 0;
  std::uint64_t duration_ns = 0;               // of the windows together, counted once where processes overlap
  std::uint64_t windows = 0;                   // how many ranges the window was made of; 1 for the whole
  std::uint64_t events = 0;                    // in the window
  std::uint64_t ranges = 0;                    // range begins in the window
  std::uint64_t operator_calls = 0;            // of these, operators
  std::uint64_t threads = 0;                   // that have events in the window
  std::uint64_t steps = 0;                     // that begin in the window, of an optimizer: that end there
  StepSource step_source = StepSource::kNone;  // what counts as a step; of several processes the best
  bool last_step_is_empty = false;  // nothing was asked for since the newest memoir.step(); of the whole alone
  std::uint64_t mark_count = 0;
  std::uint64_t refusals = 0;              // of memory past torch's caching allocator
  std::vector<OutOfMemory> out_of_memory;  // the newest, in order; the devices have their number
  // GroupBy::kModule only. Inside a region that torch.compile made no module is called: where it is not known for which
  // operation a block is, the region stands for all of them.
  std::uint64_t compiled_allocations = 0;
  std::uint64_t compiled_bytes = 0;
  std::uint64_t module_calls = 0;
  std::array<Columns, kPhases> phases;  // over all rows; they sum to total()
  std::string missing;                  // what is not known of the rows, in one line; mostly empty
  std::uint64_t dropped_events = 0;     // counted by the recorder: dropped in the ring or lost in writing
  ReplayReport report;
  Columns total() const;  // over rows
};

struct SummaryOptions : Selection {
  GroupBy by = GroupBy::kOperator;
  bool checkpointing = true;  // of kCategory also what checkpointing would do, which takes as long again
};

// NotFound when the window does not occur (names the nearest range), or when there is no such device or rank.
absl::StatusOr<Summary> AnalyzeSummary(const Capture& capture, const SummaryOptions& options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_SUMMARY_H_
