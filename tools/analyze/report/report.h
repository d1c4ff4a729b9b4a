// What `memoir report` draws: of each device its bytes over time, its blocks, where they were made, and its segments;
// and the summaries whose rows are the report's tables.
//
// Whatever the length of the recording, curves, trees and lists have bounds, and say how many there were. Of a long one
// the largest and longest-lived blocks are kept singly, and all that are live at the exact instants: of a program with
// millions of live blocks these are many. The curves always have every maximum.
#ifndef TOOLS_ANALYZE_REPORT_REPORT_H_
#define TOOLS_ANALYZE_REPORT_REPORT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/lives/leaks.h"
#include "tools/analyze/pass/iterations.h"
#include "tools/analyze/pass/options.h"
#include "tools/analyze/stacks/caller_nodes.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"

namespace memoir {

// What blocks can be told apart by, in the page's order. A further one is a line here.
struct ReportGrouping {
  GroupBy by;
  bool stacked;                // over time, too; the others are known of single blocks alone
  bool merges_layers = false;  // of modules: "blocks.*.mlp" for those of all layers
};
inline constexpr ReportGrouping kReportGroupings[] = {
    {GroupBy::kCategory, true},  // a line each
    {GroupBy::kModule, true, true}, {GroupBy::kModule, true}, {GroupBy::kOperator, true},   {GroupBy::kLine, true},
    {GroupBy::kPool, true},         {GroupBy::kShape, false}, {GroupBy::kParameter, false},
};
inline constexpr std::size_t kReportGroupingCount = std::size(kReportGroupings);

// What tables are made by.
inline constexpr GroupBy kReportTables[] = {GroupBy::kCategory, GroupBy::kModule, GroupBy::kOperator, GroupBy::kLine,
                                            GroupBy::kParameter};

// A row of a grouping: index in ReportDevice::labels of the grouping.
using LabelNumber = std::uint32_t;

// Over buckets of equal length: the most at any instant of each, and what that was made of.
struct ReportCurve {
  std::vector<std::uint64_t> most;
  std::vector<std::uint64_t> most_ns;  // when that was first so
  // By grouping: what of `most` each label had, as differences to the bucket before. Of those that are stacked.
  struct Change {
    LabelNumber label;
    std::uint64_t bytes;  // from this bucket on
  };
  std::array<std::vector<std::vector<Change>>, kReportGroupingCount> changes;  // by bucket
};

struct ReportBlock {
  static constexpr std::uint64_t kLive = ~std::uint64_t{0};
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t begin_ns = 0;    // that of the window, where it was live before
  std::uint64_t end_ns = kLive;  // it is live at the end
  bool from_before = false;      // it was live when the recording or the window began
  std::array<LabelNumber, kReportGroupingCount> labels{};
  std::uint32_t path = 0;    // in ReportDevice::paths
  std::uint32_t caller = 0;  // in ReportDevice::callers
};

// An instant at which every live block is among `blocks`.
struct ReportInstant {
  enum class Kind : std::uint8_t { kPeak, kMark, kOutOfMemory, kRegular, kEnd };
  Kind kind = Kind::kRegular;
  std::string name;  // of a mark
  std::uint64_t ns = 0;
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

// Of the blocks of a node of a flame graph, without those of the nodes inside it.
struct ReportSums {
  std::uint64_t allocated_bytes = 0;
  std::uint64_t temporary_bytes = 0;
  std::uint64_t bytes_at_peak = 0;
  std::uint64_t net_bytes = 0;
};

// Ranges inside each other, by name; [0] is the root. Sums: of blocks that were allocated with this range innermost.
struct ReportPath : ReportSums {
  std::uint32_t parent = 0;
  std::uint32_t name = 0;  // in Report::names
  RangeSource source = RangeSource::kFunction;
};

// Of blocks of one module and one operator.
struct ReportPlace : ReportSums {
  LabelNumber module = 0;
  LabelNumber operator_label = 0;
};

// Python callers inside each other, as in StackTree; [0] is the top.
struct ReportCaller : ReportSums {
  CallerNode::Kind kind = CallerNode::Kind::kTop;
  std::uint32_t parent = 0;
  std::uint32_t frame = 0;  // in ReportDevice::frames
};

struct ReportSegmentChange {
  std::uint64_t ns = 0;
  bool grows = false;
  bool mapped = false;  // of an expandable segment, as the next one of what grows
  bool small = false;   // of the pool for blocks of up to 1 MiB
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t stream = 0;
  std::uint32_t pool_graph = 0;
  std::uint32_t pool_user = 0;
};

struct ReportOtherBlock {
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
  std::uint64_t begin_ns = 0;  // of the first bucket: its first event
  std::uint64_t end_ns = 0;    // of the last
  ReportCurve allocated;
  std::vector<std::uint64_t> active, reserved;  // the most in each bucket; caching only
  std::array<std::vector<std::string>, kReportGroupingCount> labels;
  std::vector<ReportBlock> blocks;  // by begin
  std::uint64_t all_blocks = 0;     // that there were; `blocks` are fewer of a long recording
  bool complete = false;            // they are all of them
  std::vector<ReportInstant> instants;
  std::uint64_t all_marks = 0;          // that there were; the first of them are instants
  std::uint64_t all_out_of_memory = 0;  // likewise, errors
  std::vector<ReportPath> paths;
  std::vector<ReportPlace> places;
  std::vector<ReportCaller> callers;
  std::vector<SourceLine> frames;  // of callers
  std::vector<SourceLine> lines;   // as `labels` of the lines
  std::vector<ReportSegmentChange> segments;
  bool all_segments = true;  // false: there were more changes
  // Of blocks that the selection leaves out by module or size: where they lie in segments. By begin.
  std::vector<ReportOtherBlock> others;
  bool all_others = true;  // false: those of the exact instants alone
};

struct ReportProcess {
  ProcessId process;
  std::vector<Iteration> iterations;
  StepSource step_source = StepSource::kNone;
  std::vector<std::uint64_t> steps_ns;  // where each begins, or the window inside the first
  std::uint64_t first_step = 0;         // its number
  std::uint64_t all_steps = 0;          // that there were; `steps_ns` are the first of them
  std::uint64_t all_iterations = 0;     // likewise
};

// What there is besides the part that a report is of.
struct ReportWhole {
  std::uint64_t steps = 0;    // of the process with the most
  std::uint64_t end_ns = 0;   // of the recording
  std::size_t processes = 0;  // with memory
  std::size_t processes_in_part = 0;
  std::uint64_t windows = 0;  // of the process with the most
};

struct Report {
  std::vector<Summary> summaries;  // as kReportTables
  std::vector<ReportDevice> devices;
  std::vector<ReportProcess> processes;  // with events
  Leaks leaks;
  std::vector<std::string> names;  // of ranges
  ReportWhole whole;
};

struct ReportOptions : Selection {
  std::size_t buckets = 8192;
  std::size_t most_blocks = 400'000;  // kept singly, over all devices
  std::size_t most_others = 400'000;  // likewise, of each device
};

// Of a window everything is of the window: what was live at its begin counts as of then. Of a choice of blocks
// everything is of these, but active and reserved bytes, segments, and out-of-memory errors, which are of the device.
absl::StatusOr<Report> AnalyzeReport(const Capture& capture, const ReportOptions& options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_REPORT_REPORT_H_
