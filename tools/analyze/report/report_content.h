// The content of `memoir report`: for each device its bytes over time, its blocks with their origin, and its segments.
// Also contains the summaries whose rows become the report's tables.
//
// Curves, trees and lists are bounded for recordings of any length. The content includes the numbers of omitted
// entries. For a long recording, the report lists only the largest and longest-lived blocks, and all blocks that are
// live at the exact instants (ReportInstant). The curves always contain every maximum.
#ifndef TOOLS_ANALYZE_REPORT_REPORT_CONTENT_H_
#define TOOLS_ANALYZE_REPORT_REPORT_CONTENT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analyze/lives/leaks.h"
#include "tools/analyze/pass/iterations.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/analyze/pass/window/step_begins.h"
#include "tools/analyze/stacks/caller_nodes.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"

namespace memoir {

// The groupings of blocks, in the order of the page. A new grouping needs only a line here.
struct ReportGrouping {
  GroupBy by;
  bool stacked;                // true: also shown over time; false: exists only for individual blocks
  bool merges_layers = false;  // modules of all layers are merged: "blocks.*.mlp"
};
inline constexpr ReportGrouping kReportGroupings[] = {
    {GroupBy::kCategory, true},  // the grouping that the page shows first
    {GroupBy::kModule, true, true}, {GroupBy::kModule, true}, {GroupBy::kOperator, true},   {GroupBy::kLine, true},
    {GroupBy::kPool, true},         {GroupBy::kShape, false}, {GroupBy::kParameter, false},
};
inline constexpr std::size_t kReportGroupingCount = std::size(kReportGroupings);

// The groupings of tables.
inline constexpr GroupBy kReportTables[] = {GroupBy::kCategory, GroupBy::kModule, GroupBy::kOperator, GroupBy::kLine,
                                            GroupBy::kParameter};

// A row of a grouping, as an index in its ReportDevice::labels.
using LabelNumber = std::uint32_t;

// Bytes over time in buckets of equal length: the maximum of each bucket, and its composition.
struct ReportCurve {
  std::vector<std::uint64_t> most;
  std::vector<std::uint64_t> most_ns;  // when the maximum was reached first
  // By stacked grouping: the bytes of each label at the bucket's maximum, as changes since the previous bucket.
  struct Change {
    LabelNumber label;
    std::uint64_t bytes;  // bytes from this bucket on
  };
  std::array<std::vector<std::vector<Change>>, kReportGroupingCount> changes;  // by bucket
};

struct ReportBlock {
  static constexpr std::uint64_t kLive = ~std::uint64_t{0};
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t begin_ns = 0;    // begin of the selection if the block was live before
  std::uint64_t end_ns = kLive;  // kLive if the block is live at the end
  bool from_before = false;      // true: it was live when the recording or the selection began
  std::array<LabelNumber, kReportGroupingCount> labels{};
  std::uint32_t path = 0;    // index in ReportDevice::paths
  std::uint32_t caller = 0;  // index in ReportDevice::callers
};

// An exact instant: ReportDevice::blocks contains every block that is live at this instant.
struct ReportInstant {
  enum class Kind : std::uint8_t { kPeak, kMark, kOutOfMemory, kRegular, kEnd };
  Kind kind = Kind::kRegular;
  std::string name;  // name of a mark; otherwise empty
  std::uint64_t ns = 0;
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

// Sums over the blocks of a node of a flame graph, without its children.
struct ReportSums {
  std::uint64_t allocated_bytes = 0;
  std::uint64_t temporary_bytes = 0;
  std::uint64_t bytes_at_peak = 0;
  std::uint64_t net_bytes = 0;
};

// A range, as a child of the range around it; [0] is the root. The sums cover the blocks that were allocated while this
// range was innermost.
struct ReportPath : ReportSums {
  std::uint32_t parent = 0;
  std::uint32_t name = 0;  // index in ReportContent::names
  RangeSource source = RangeSource::kFunction;
};

// The sums of blocks with the same module and operator.
struct ReportPlace : ReportSums {
  LabelNumber module = 0;
  LabelNumber operator_label = 0;
};

// A Python frame, as a child of the frame that called it, as in StackTree; [0] is the top.
struct ReportCaller : ReportSums {
  CallerNode::Kind kind = CallerNode::Kind::kTop;
  std::uint32_t parent = 0;
  std::uint32_t frame = 0;  // index in ReportDevice::frames
};

struct ReportSegmentChange {
  std::uint64_t ns = 0;
  bool grows = false;
  bool mapped = false;  // belongs to an expandable segment
  bool small = false;   // in the pool for blocks of up to 1 MiB
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t stream = 0;
  std::uint32_t pool_graph = 0;
  std::uint32_t pool_user = 0;
};

struct ReportOmittedBlock {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = ReportBlock::kLive;
};

struct ReportDevice {
  std::string name;
  ProcessId process;
  std::optional<std::uint32_t> rank;
  bool caching = false;
  std::uint64_t begin_ns = 0;  // first event of the device, where the first bucket begins
  std::uint64_t end_ns = 0;    // end of the last bucket
  ReportCurve allocated;
  std::vector<std::uint64_t> active, reserved;  // the maximum of each bucket; caching only
  std::array<std::vector<std::string>, kReportGroupingCount> labels;
  std::vector<ReportBlock> blocks;  // by begin
  std::uint64_t all_blocks = 0;     // number of existing blocks; more than in `blocks` for a long recording
  bool complete = false;            // `blocks` contains all existing blocks
  std::vector<ReportInstant> instants;
  std::uint64_t all_marks = 0;          // number of existing marks; only the first of them are in `instants`
  std::uint64_t all_out_of_memory = 0;  // number of existing errors; only the first of them are in `instants`
  std::vector<ReportPath> paths;
  std::vector<ReportPlace> places;
  std::vector<ReportCaller> callers;
  std::vector<SourceLine> frames;  // the frames of `callers`
  std::vector<SourceLine> lines;   // by LabelNumber of the grouping by line
  std::vector<ReportSegmentChange> segments;
  bool all_segments = true;  // false: some changes are omitted
  // The addresses and lives of blocks that the report leaves out because of their module or size. Ordered by begin.
  std::vector<ReportOmittedBlock> others;
  bool all_others = true;  // false: `others` has only blocks that are live at an exact instant
};

struct ReportProcess {
  ProcessId process;
  std::vector<Iteration> iterations;
  // If the window begins inside of the first step, this step's begin is the begin of the window.
  StepBegins steps;
  std::uint64_t all_iterations = 0;  // number of existing iterations; `iterations` contains only the first of them
};

// Figures of the whole recording, for a report that covers only a selection.
struct ReportWhole {
  std::uint64_t steps = 0;            // number of steps of the process with the most steps
  std::uint64_t end_ns = 0;           // end of the recording
  std::size_t processes = 0;          // processes with memory
  std::size_t processes_in_part = 0;  // processes with memory in which the selection has a window
  std::uint64_t windows = 0;          // number of windows of the process with the most windows
};

struct ReportContent {
  std::vector<Summary> summaries;  // in the order of kReportTables
  std::vector<ReportDevice> devices;
  std::vector<ReportProcess> processes;  // processes with events
  Leaks leaks;
  std::vector<std::string> names;  // names of ranges (ReportPath::name)
  ReportWhole whole;
};

struct ReportOptions : Selection {
  std::size_t buckets = 8192;
  std::size_t most_blocks = 400'000;  // blocks that are kept individually, over all devices
  std::size_t most_others = 400'000;  // omitted blocks that are kept (ReportDevice::others), for each device
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_REPORT_REPORT_CONTENT_H_
