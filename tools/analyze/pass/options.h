// What every analysis can be limited to. Inside a limit the sums still close.
#ifndef TOOLS_ANALYZE_PASS_OPTIONS_H_
#define TOOLS_ANALYZE_PASS_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memoir {

// What says where a step begins (steps.h), the best last.
enum class StepSource : std::uint8_t { kNone, kModule, kOptimizer, kProfiler, kProgram };
inline constexpr std::size_t kStepSources = 5;
struct ProcessSteps {
  StepSource source = StepSource::kProgram;
  bool first_is_before = false;  // step 0 begins with the process: no other begins it
};

// The part of a recording that counts. Blocks from before it have lines of their own, "(before the window)".
struct Window {
  enum class Kind : std::uint8_t {
    kAll,
    kRange,  // user ranges named `range`: from begin to end, events of all threads in between
    kSteps,  // from step `first_step` up to step `last_step`, by what counts as a step: Selection::steps
    kTime,   // from `begin_ns` up to `end_ns`, since the start of the capture
  };
  Kind kind = Kind::kAll;
  std::string range;
  std::optional<std::uint64_t> occurrence;  // of the range in its process, from 0; none: all of them
  std::uint64_t first_step = 0;
  std::uint64_t last_step = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;

  static Window All() { return {}; }
  static Window Range(std::string name, std::optional<std::uint64_t> occurrence = std::nullopt) {
    Window window;
    window.kind = Kind::kRange;
    window.range = std::move(name);
    window.occurrence = occurrence;
    return window;
  }
  static Window Steps(std::uint64_t first, std::uint64_t last) {
    Window window;
    window.kind = Kind::kSteps;
    window.first_step = first;
    window.last_step = last;
    return window;
  }
  static Window Time(std::uint64_t begin_ns, std::uint64_t end_ns) {
    Window window;
    window.kind = Kind::kTime;
    window.begin_ns = begin_ns;
    window.end_ns = end_ns;
    return window;
  }
};

// "forward" or "forward#3". A '#' not followed by digits alone belongs to the name.
Window ParseRangeWindow(const std::string& text);
// "10:12", the first before the second. The recorder reads windows alike (tracker/session/windows.h), which a test
// compares.
std::optional<Window> ParseStepsWindow(std::string_view text);

enum class GroupBy : std::uint8_t {
  kOperator,  // outermost operator
  kLeaf,      // innermost range
  kRange,     // innermost user range
  kRegion,    // that torch.compile made
  kThread,
  kModule,
  kShape,  // layout of the largest tensor that was seen on the block (block_shapes.h)
  kRank,
  kCategory,        // by Memoir's rules (categories/rules.h)
  kCategoryModule,  // what a module allocated, by category
  kLine,            // of the user's own code (source_lines.h)
  kCategoryLine,    // what a line allocated, by category
  kParameter,       // what belongs to a parameter: itself, its gradient, its optimizer's state
  kPool,            // of the CUDA caching allocator (pools.h)
};
// By the word that groupings.h has for it.
std::optional<GroupBy> ParseGroupBy(const std::string& text);
// Whether categories have to be known for it; their pass comes first.
bool NeedsCategories(GroupBy by);
// Whether rows are lines of the program.
bool NeedsStacks(GroupBy by);

struct Selection {
  Window window;
  std::vector<ProcessSteps> steps;    // by ProcessId, of windows of steps; empty: memoir.step() alone
  bool forget_before = false;         // leave out blocks from before the window altogether
  std::optional<std::string> device;  // "cpu", "cuda:0"
  std::optional<std::uint32_t> rank;
  std::string module;                    // only blocks of modules that match (block_filter.h); "": of all, and of none
  std::uint64_t min_bytes = 0;           // only blocks of so many bytes
  std::string own;                       // whose lines count, of --own (source_lines.h); "": all that is no library's
  std::function<void(double)> progress;  // 0..1, over all passes

  bool takes_all_blocks() const { return module.empty() && min_bytes == 0; }
  // The same without a choice of blocks.
  Selection OfAllBlocks() const {
    Selection whole = *this;
    whole.module.clear();
    whole.min_bytes = 0;
    return whole;
  }
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_OPTIONS_H_
