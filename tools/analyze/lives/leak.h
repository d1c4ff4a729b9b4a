// A place that keeps more in every step (leaks.h finds them), and what the blocks are that it keeps.
#ifndef TOOLS_ANALYZE_LIVES_LEAK_H_
#define TOOLS_ANALYZE_LIVES_LEAK_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/model/dictionary.h"

namespace memoir {

struct Leak {
  enum class Kind : std::uint8_t { kKept, kReplaced, kFragmentation };
  Kind kind = Kind::kKept;
  SourceLine line;  // of a backward node that its forward operator is of; none: not known
  std::string device;
  ProcessId process;
  std::uint64_t bytes = 0;               // of those steps together, without the newest
  std::uint64_t blocks = 0;              // that there are of it
  std::uint64_t steps = 0;               // from the first that left something behind
  std::uint64_t since_step = 0;          // that first one, as the program counts
  std::uint64_t ns = 0;                  // when the newest step began
  std::uint64_t from_ns = 0, to_ns = 0;  // of the last but one: what it made and is live at `ns` is kept
  struct Share {                         // of a category
    RuleNumber rule = 0;                 // the one that most of it is by
    std::uint64_t bytes = 0;
  };
  // Most bytes first. Together they are `bytes`, or of kReplaced the tensor that there is now; none: kFragmentation.
  std::vector<Share> categories;
  // That made the largest part of the first of them; "": none.
  std::string operator_name, module;
  bool is_mixed = false;  // others made a part of it
  std::uint64_t bytes_per_step() const { return bytes / steps; }
};
// "kept", "replaced", "fragmentation"
std::string_view ToString(Leak::Kind kind);

// Who keeps the most of it: autograd's graph, where that is a fourth at least.
Keeper KeeperOf(const Leak& leak);

// Leaks that likely have one cause (leak_causes.h finds them).
struct LeakCause {
  std::vector<std::size_t> leaks;  // their indices, two at least
  struct Made {                    // one of the two is known
    SourceLine line;
    std::string operator_name;
  };
  Made last_kept;    // of these tensors, the last that a step makes
  Made last_result;  // the last that it computes from them, kept or not: what the program refers to, or near it
};

// Bytes of blocks that are alike.
using LeakPart = std::tuple<NameId, ModuleId, RuleNumber>;
using LeakParts = std::map<LeakPart, std::uint64_t>;
// Fills in the categories, and who made most of the first of them.
void Describe(const LeakParts& parts, const Dictionary& dictionary, Leak& leak);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVES_LEAK_H_
