// A place in the program that keeps more memory in every step (found by leaks.h), and facts about the kept blocks.
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
#include "tools/model/event/dictionary.h"

namespace memoir {

struct Leak {
  // kKept: steps leave blocks behind. kReplaced: each step replaces a tensor by a larger one. kFragmentation: reserved
  // bytes grow because of fragmentation.
  enum class Kind : std::uint8_t { kKept, kReplaced, kFragmentation };
  Kind kind = Kind::kKept;
  SourceLine line;  // line that allocated the blocks; in backward, line of the forward operator; may be unknown
  std::string device;
  ProcessId process;
  std::uint64_t bytes = 0;               // growth from `since_step` on, until `to_ns` for kKept, otherwise until `ns`
  std::uint64_t blocks = 0;              // kept blocks
  std::uint64_t inferred_blocks = 0;     // kept blocks whose operator and module are inferred (Block::inferred)
  std::uint64_t steps = 0;               // number of steps that `bytes` covers
  std::uint64_t since_step = 0;          // the first step that left blocks behind, by the program's numbers
  std::uint64_t ns = 0;                  // begin of the newest step: when live blocks are examined
  std::uint64_t until_ns = 0;            // when the newest step first allocated or freed a block; 0: unknown
  std::uint64_t from_ns = 0, to_ns = 0;  // kKept: begin and end of the newest step that `bytes` covers
  struct Share {                         // kept bytes in one category
    RuleNumber rule = 0;                 // rule (rules.h) that gave the category to the largest LeakPart of these bytes
    std::uint64_t bytes = 0;
  };
  // Most bytes first. The shares sum to `bytes`; for kReplaced, to the bytes of the tensor that was live when the
  // newest step began. Empty for kFragmentation.
  std::vector<Share> categories;
  // Operator and module that made the largest part of the first category. Each may be empty.
  std::string operator_name, module;
  bool is_mixed = false;  // other operators or modules also made blocks of the first category
  std::uint64_t bytes_per_step() const { return bytes / steps; }
};
// "kept", "replaced", "fragmentation"
std::string_view ToString(Leak::Kind kind);

// Returns the holder of the first category. If an autograd graph holds a category with at least a fourth of the bytes,
// returns the graph.
HolderKind HolderOf(const Leak& leak);

// Leaks that probably have one cause (leak_causes.h): an autograd graph, or a variable that holds their tensors.
struct LeakCause {
  std::vector<std::size_t> leaks;  // at least two indices in Leaks::leaks, in ascending order
  std::string variable;            // "t.seen (global of train.py)"; empty: the cause is a graph, see below
  struct Allocation {              // if the line is unknown, only the operator is set
    SourceLine line;
    std::string operator_name;
  };
  // For a graph: the allocation of the last kept tensor in a step.
  Allocation last_kept;
  // For a graph: the allocation of the last tensor in a step that is computed from the kept tensors. The program
  // probably holds a reference to this tensor or, if this tensor was freed, to one that was made shortly before.
  Allocation last_result;
};

// A LeakPart identifies the blocks of a leak with the same operator, module and rule. LeakParts contains the bytes of
// these blocks.
using LeakPart = std::tuple<NameId, ModuleId, RuleNumber>;
using LeakParts = std::map<LeakPart, std::uint64_t>;
// Sets the categories of `leak`, and the operator and module of its first category.
void DescribeLeak(const LeakParts& parts, const Dictionary& dictionary, Leak& leak);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVES_LEAK_H_
