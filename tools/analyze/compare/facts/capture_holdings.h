// The live bytes of a capture at one instant, divided into parts: the blocks of one part have the same operator,
// module, line and category. Every row of a comparison is a sum of such parts.
#ifndef TOOLS_ANALYZE_COMPARE_FACTS_CAPTURE_HOLDINGS_H_
#define TOOLS_ANALYZE_COMPARE_FACTS_CAPTURE_HOLDINGS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/compare/facts/line_peaks.h"
#include "tools/analyze/compare/facts/program_facts.h"
#include "tools/analyze/compare/match/line_match.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/pass/instant_choice.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

// A part of the live bytes: all blocks with the same values in all fields but the last four. Labels are the same as in
// rows of `memoir show`.
struct HeldPart {
  std::string operator_name;
  std::string module_label;  // for blocks without a module: the label of their row; otherwise empty
  Module module;
  std::string line_label;  // for blocks without a line: the label of their row; otherwise empty
  SourceLine line;
  std::string category;
  bool is_of_library = false;  // a library's workspace, which has no module
  std::string other;           // label in the grouping CaptureHoldingsOptions::other
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
  std::uint64_t requested = 0;    // bytes without the allocator's rounding; 0 for a part of the reserved bytes
  std::uint64_t before_step = 0;  // bytes that were allocated before the step of the instant began
};

struct HeldDevice {
  std::string name;
  ProcessId process;
  std::uint64_t ns = 0;     // the instant
  std::uint64_t bytes = 0;  // sum of `parts`
  std::uint64_t blocks = 0;
  std::vector<HeldPart> parts;
  // Phase and module of the allocation that led to the instant. Empty if the last change before the instant was not an
  // allocation.
  std::optional<Phase> phase;
  std::string module;  // empty: no module
  // The peak of a caching allocator's reserved bytes in the selection, and the parts that sum to it. The category of
  // such a part is its ReservedPlace. 0 and empty without a caching allocator.
  std::uint64_t reserved_bytes = 0;
  std::vector<HeldPart> reserved_parts;
  std::vector<LinePeak> line_peaks;  // maxima of the lines in the selection
  // By full path of an outermost module: the number of its calls whose tensors are live. Calls that hold less than a
  // tenth of the largest call's bytes do not count.
  std::map<std::string, std::size_t> live_calls;
};

struct CaptureHoldings {
  std::vector<HeldDevice> devices;
  std::vector<Module> modules;  // modules that were called in the capture; empty for a snapshot
  std::vector<SeenLine> lines;  // lines that allocated in the capture
  ProgramFacts facts;
  bool maps_segments = false;                     // an allocator uses expandable segments
  std::string missing_lines, missing_categories;  // each one line of text: the missing information; usually empty
  ReplayReport report;
};

struct CaptureHoldingsOptions : Selection {
  InstantChoice at;
  std::optional<GroupBy> other;  // a grouping other than operator, module, line and category
};

// Needs two replays.
Task<absl::StatusOr<CaptureHoldings>> AnalyzeCaptureHoldings(SharedCategories& shared, CaptureHoldingsOptions options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_FACTS_CAPTURE_HOLDINGS_H_
