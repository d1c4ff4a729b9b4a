// The result of AnalyzeSummary: rows, and totals of devices, processes and the window.
#ifndef TOOLS_ANALYZE_SUMMARY_FIGURES_SUMMARY_FIGURES_H_
#define TOOLS_ANALYZE_SUMMARY_FIGURES_SUMMARY_FIGURES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analyze/categories/parameter_book.h"
#include "tools/analyze/checkpointing/checkpointing.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/oom/out_of_memory.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/analyze/summary/figures/ending.h"
#include "tools/analyze/summary/figures/summary_columns.h"
#include "tools/model/capture.h"

namespace memoir {

// More facts about a row of GroupBy::kModule. The name of the row is the path, or the root if the path is empty.
struct ModuleFacts {
  std::string root;
  std::string path;
  std::string class_name;
  using ByPhase = std::array<SummaryColumns, kPhases>;  // by Phase
  ByPhase by_phase{};                                   // the phases sum to the row's total
  std::vector<ByPhase> by_device;                       // in the order of Summary::devices
};

// More facts about a row of GroupBy::kParameter. The parts sum to the row's total.
struct ParameterFacts {
  using ByPart = std::array<SummaryColumns, kParameterParts>;  // by ParameterPart
  ByPart by_part{};
  std::vector<ByPart> by_device;  // in the order of Summary::devices
  bool is_buffer = false;
  std::string root;  // class of the outermost module that contains the parameter; empty: no module
};

struct SummaryRow {
  enum class Kind : std::uint8_t {
    kNamed,
    kNone,       // "(no operator)", "(no range)", ...: allocated outside of all operators, ranges, ...
    kWorkspace,  // "(library workspace)": belongs to no operator or module, see Grouping::SeparatesWorkspaces
    kBefore,     // "aten::mm (before the window)"; "(before the window)" if the name is unknown
    kEvicted,    // "(in evicted parts)": sums from a keyframe that lacks this grouping
  };
  std::string name;
  Kind kind = Kind::kNamed;
  std::uint64_t count = 0;                // calls that began in the window, at any depth; for groupings that have calls
  std::uint64_t outermost_count = 0;      // calls that no other operator (for modules: no other module) contains
  SummaryColumns total;                   // over all devices
  std::vector<SummaryColumns> by_device;  // in the order of Summary::devices
  // The part of `total` and of the counts that comes from evicted parts; GroupBy::kOperator only.
  EvictedSums evicted;
  ModuleFacts module;        // GroupBy::kModule only
  ParameterFacts parameter;  // GroupBy::kParameter only
  SourceLine source;         // GroupBy::kLine and kCategoryLine only
  // Lines of generated code that ran for the row's line and allocated its blocks; GroupBy::kLine and kCategoryLine
  // only.
  std::vector<GeneratedPlace> via;
  // GroupBy::kCategory, kCategoryModule and kCategoryLine only. For example "ACTIVATION" and "recomputed". `detail` may
  // be empty.
  std::string_view category, detail;
};

struct DeviceRow {
  std::string name;  // "cpu", "cuda:0"
  std::string product;
  ProcessId process;
  std::optional<std::uint32_t> rank;  // empty: the process has no rank
  // Most live bytes in the window; the sum of the rows' bytes_at_peak.
  std::uint64_t peak_allocated_bytes = 0;
  std::uint64_t peak_blocks = 0;
  std::uint64_t peak_of_all_bytes = 0;  // only if the selection leaves out blocks: bytes of all live blocks at the peak
  std::uint64_t peak_ns = 0;            // when an allocation first reached the peak
  std::string peak_operator;            // operator of this allocation; empty: outside of operators
  SourceLine peak_line;                 // line of this allocation; not known(): unknown
  std::string peak_range;               // innermost user range of this allocation; empty: outside of user ranges
  std::string peak_module;              // module that ran inside of that range; empty: no module
  Phase peak_phase = Phase::kOther;
  std::optional<std::uint64_t> peak_step;  // step of this allocation, by the definition of a step in its process
  // torch.compile's own bytes at the peak, and the peak that would have occurred without them.
  std::uint64_t compile_bytes_at_peak = 0;
  std::uint64_t peak_without_compile_bytes = 0;
  std::uint64_t live_bytes_at_begin = 0;  // when the window began
  std::uint64_t live_bytes_at_end = 0;
  std::uint64_t live_blocks_at_end = 0;
  std::uint64_t allocations = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t deallocations = 0;
  std::uint64_t deallocated_bytes = 0;
  std::uint64_t unattributed_bytes = 0;  // allocated outside of operators
  // Storages that were first seen as arguments, because they were allocated before the recording or by other code. No
  // other figure includes them.
  std::uint64_t first_seen_storages = 0;
  std::uint64_t first_seen_bytes = 0;
  // The following figures, up to num_ooms, are for a device with a caching allocator. Peaks and counts cover the
  // window.
  bool caching = false;      // the device has a caching allocator
  bool active_known = true;  // false: active and requested bytes are unknown, and are set to the allocated bytes
  std::uint64_t peak_active_bytes = 0;
  std::uint64_t peak_active_ns = 0;
  std::uint64_t peak_reserved_bytes = 0;
  std::uint64_t peak_reserved_ns = 0;
  std::uint64_t active_bytes_at_end = 0;
  std::uint64_t reserved_bytes_at_end = 0;
  std::uint64_t active_bytes_at_peak = 0;  // at peak_ns
  // Requested bytes of the active blocks at peak_ns; the difference to active bytes is rounding.
  std::uint64_t requested_bytes_at_peak = 0;
  std::uint64_t reserved_bytes_at_peak = 0;        // at peak_ns
  std::optional<std::uint64_t> num_alloc_retries;  // empty: unknown
  std::uint64_t num_ooms = 0;
  std::uint64_t compiled_allocations = 0;  // see Summary::compiled_allocations
  std::uint64_t compiled_bytes = 0;
  // Driver allocations outside of torch's caching allocator, at their maximum, and their owners at this time.
  std::uint64_t outside_bytes = 0;
  std::vector<HoldingRow> outside;          // largest first
  std::optional<std::uint64_t> least_free;  // fewest free bytes in a device sample; empty: no sample
  std::uint64_t total_bytes = 0;            // capacity of the device, if least_free is set
  // True: the peak lies in evicted parts. Live blocks and running operators at the peak are unknown, so the row "(in
  // evicted parts)" contains the bytes of the peak.
  bool peak_is_evicted = false;
  std::uint64_t newest_peak_bytes = 0;  // if peak_is_evicted: the peak in the parts that are left
  std::uint64_t newest_peak_ns = 0;
  // Sums of the evicted parts, taken from the first remaining keyframe. The figures above include them. 0 if no part is
  // evicted.
  std::uint64_t evicted_peak_bytes = 0;
  std::uint64_t evicted_peak_ns = 0;
  std::uint64_t evicted_allocations = 0;
  std::uint64_t evicted_allocated_bytes = 0;
  std::uint64_t evicted_deallocations = 0;
  std::uint64_t evicted_live_bytes = 0;  // at the end of the evicted parts
  // The modules whose checkpointing would lower the peak most. Estimated only for GroupBy::kCategory, and after an
  // out-of-memory error. Also empty if checkpointing would lower the peak by less than a twentieth
  // (CheckpointDevice::best).
  std::optional<CheckpointRow> checkpointing;
};

struct ProcessRow {
  ProcessId process;
  std::optional<std::uint32_t> rank;  // empty: the process has no rank
  std::uint64_t pid = 0;
  std::uint64_t duration_ns = 0;
  v1::Counters counters;
  v1::End end;
};

struct SummaryMark {
  std::string name;
  std::uint64_t ns = 0;
  ProcessId process;
};

// If parts were evicted, no window is selected, and the first remaining keyframe has sums, these figures cover the
// whole recording: peaks, allocations and deallocations of devices; calls, allocations and bytes of operators; events.
// Temporaries, lives, threads, steps and marks cover only the remaining parts.
struct Summary {
  GroupBy by = GroupBy::kOperator;
  bool is_partly_evicted = false;  // the figures include sums of evicted parts
  std::vector<DeviceRow> devices;
  std::vector<SummaryRow> rows;  // most allocated bytes first; "(...)" rows last
  std::vector<ProcessRow> processes;
  std::vector<SummaryMark> marks;  // at most 1,000 of them
  std::uint64_t begin_ns = 0;      // begin of the window
  std::uint64_t end_ns = 0;
  // Total time of the windows; time in which several processes have a window counts once.
  std::uint64_t duration_ns = 0;
  std::uint64_t windows = 0;                   // number of windows in all processes; 1 for the whole recording
  std::uint64_t events = 0;                    // in the window
  std::uint64_t ranges = 0;                    // range begins in the window
  std::uint64_t operator_calls = 0;            // range begins that are operators
  std::uint64_t threads = 0;                   // threads with events in the window
  std::uint64_t steps = 0;                     // steps that begin in the window; for an optimizer, that end in it
  StepSource step_source = StepSource::kNone;  // definition of a step; the best one of several processes
  // True if nothing was allocated since the newest memoir.step(); only for the whole recording.
  bool last_step_is_empty = false;
  std::uint64_t mark_count = 0;
  std::uint64_t refusals = 0;              // refused requests outside of torch's caching allocator
  std::vector<OutOfMemory> out_of_memory;  // the newest errors, in order; DeviceRow::num_ooms counts all
  std::vector<Ending> endings;             // set if SummaryOptions::endings
  // Allocations in regions that torch.compile made, whose operation in the program is unknown. No module is known for
  // them, because compiled code does not call modules.
  std::uint64_t compiled_allocations = 0;
  std::uint64_t compiled_bytes = 0;
  std::uint64_t module_calls = 0;              // GroupBy::kModule only
  std::array<SummaryColumns, kPhases> phases;  // GroupBy::kModule only: the rows by phase; they sum to total()
  std::string missing;                         // describes in one line which information the rows lack; usually empty
  std::uint64_t dropped_events = 0;            // events that did not fit into the ring, or were lost in writing
  ReplayReport report;
  SummaryColumns total() const;  // sum over the rows
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_FIGURES_SUMMARY_FIGURES_H_
