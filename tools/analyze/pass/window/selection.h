// The selection that every analysis accepts, with the definition of a step and the groupings of tables (GroupBy).
// Within a selection, the rows of a table still sum to its total.
#ifndef TOOLS_ANALYZE_PASS_WINDOW_SELECTION_H_
#define TOOLS_ANALYZE_PASS_WINDOW_SELECTION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memoir {

// The definitions of a step (step_counter.h). If a process has several, the last of them in this list counts.
enum class StepSource : std::uint8_t { kNone, kModule, kOptimizer, kProfiler, kProgram };
inline constexpr std::size_t kStepSources = 5;
// How the steps of a process are defined.
struct ProcessSteps {
  StepSource source = StepSource::kProgram;
  bool first_is_before = false;  // true: step 0 begins with the process, not with an event
};

// The times of a recording that an analysis covers. Each covered time span of a process is a window: a user range that
// ran three times has three windows. Blocks that were allocated before a window have separate rows, "(before the
// window)".
struct SelectionWindow {
  enum class Kind : std::uint8_t {
    kAll,
    kRange,  // user ranges named `range`, from begin to end, with the events of all threads in between
    kSteps,  // from step `first_step` up to, but without, `last_step`; Selection::steps defines a step
    kTime,   // from `begin_ns` up to, but without, `end_ns`, since the start of the capture
  };
  Kind kind = Kind::kAll;
  std::string range;
  std::optional<std::uint64_t> occurrence;  // number of the range in its process, from 0; empty: all of them
  std::uint64_t first_step = 0;
  std::uint64_t last_step = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;

  static SelectionWindow All() { return {}; }
  static SelectionWindow Range(std::string name, std::optional<std::uint64_t> occurrence = std::nullopt) {
    SelectionWindow window;
    window.kind = Kind::kRange;
    window.range = std::move(name);
    window.occurrence = occurrence;
    return window;
  }
  static SelectionWindow Steps(std::uint64_t first, std::uint64_t last) {
    SelectionWindow window;
    window.kind = Kind::kSteps;
    window.first_step = first;
    window.last_step = last;
    return window;
  }
  static SelectionWindow Time(std::uint64_t begin_ns, std::uint64_t end_ns) {
    SelectionWindow window;
    window.kind = Kind::kTime;
    window.begin_ns = begin_ns;
    window.end_ns = end_ns;
    return window;
  }
};

// Parses "forward" or "forward#3". A '#' is part of the name unless digits, and only digits, follow.
SelectionWindow ParseRangeWindow(const std::string& text);
// Parses "10:12". nullopt for any other text, or if the first number is not smaller than the second. A test checks that
// the tracker parses windows in the same way (tracker/session/control/recording_windows.h).
std::optional<SelectionWindow> ParseStepsWindow(std::string_view text);

enum class GroupBy : std::uint8_t {
  kOperator,  // outermost operator
  kLeaf,      // innermost range
  kRange,     // innermost user range
  kRegion,    // region that torch.compile made
  kThread,
  kModule,
  kShape,  // layout of the largest tensor that was seen on the block (block_shapes.h)
  kRank,
  kCategory,        // by Memoir's rules (categories/rules.h)
  kCategoryModule,  // category, and module that allocated the block
  kLine,            // line of the user's own code (source_lines.h)
  kCategoryLine,    // category, and line that allocated the block
  kParameter,       // a parameter with its gradient and its optimizer state
  kPool,            // pool of the CUDA caching allocator (pools.h)
};
// Parses the value of --by (groupings.h).
std::optional<GroupBy> ParseGroupBy(const std::string& text);
// Returns true if the grouping needs categories, which a separate pass determines.
bool NeedsCategories(GroupBy by);
// Returns true if rows are lines of the program.
bool NeedsStacks(GroupBy by);

struct Selection {
  SelectionWindow window;
  std::vector<ProcessSteps> steps;    // by ProcessId, for windows of steps; empty: only memoir.step() defines steps
  bool forget_before = false;         // leave out blocks that were allocated before a window
  std::optional<std::string> device;  // "cpu", "cuda:0"; empty: all devices
  std::optional<std::uint32_t> rank;  // empty: all processes
  std::string module;                 // only blocks of modules that match (block_filter.h); empty: all blocks
  std::uint64_t min_bytes = 0;        // only blocks with at least this many bytes
  // Value of --own: the code whose lines count as the user's own (source_lines.h). Empty: all code outside of
  // libraries.
  std::string own;
  std::function<void(double)> progress;  // called with the progress of the current replay, 0..1

  bool takes_all_blocks() const { return module.empty() && min_bytes == 0; }
  // Returns the same selection without a choice of blocks by module or size.
  Selection WithAllBlocks() const {
    Selection whole = *this;
    whole.module.clear();
    whole.min_bytes = 0;
    return whole;
  }
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_WINDOW_SELECTION_H_
