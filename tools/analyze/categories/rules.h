// Memoir's rules: the category of a block from its evidence. The first rule whose condition is true applies.
#ifndef TOOLS_ANALYZE_CATEGORIES_RULES_H_
#define TOOLS_ANALYZE_CATEGORIES_RULES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "tools/analyze/categories/category.h"
#include "tools/analyze/categories/evidence.h"

namespace memoir {

// The holder of the blocks to which a rule applies.
enum class HolderKind : std::uint8_t {
  kNotKnown,
  kHolder,         // the module, optimizer or variable that holds the parameter or buffer
  kGradient,       // .grad of the parameter
  kOptimizer,      // the optimizer, as state of the parameter
  kGraph,          // the autograd graph, for backward
  kUnusedGraph,    // the autograd graph, but no backward pass ran
  kRetainedGraph,  // the autograd graph, after a backward pass that retained it
  kAutograd,       // autograd, until the next node receives the block
  kProgram,        // references in the program
  kMaker,          // the operator, autograd node or optimizer step that made the block
  kLibrary,
  kCompiler,  // torch.compile
  kRanks,     // the communication between ranks
};

struct Rule {
  std::string_view name;    // "saved_for_backward"
  Category kept;            // the category of the block
  std::string_view detail;  // empty: no detail
  HolderKind holder;
  bool (*holds)(const Evidence&);  // the condition
  std::string_view because;        // "made in forward, read in backward"
};

// The rules in their order. The last rule always holds.
absl::Span<const Rule> Rules();
using RuleNumber = std::uint8_t;  // index in Rules()
inline constexpr std::size_t kMostRules = 64;

// Returns true if a block with this rule is a bucket in which DDP reduces gradients. Threads of DDP free buckets, so
// the time at which a bucket is freed varies from step to step.
bool IsBucketOfRanks(const Rule& rule);

RuleNumber RuleFor(const Evidence& evidence);
bool IsSecondCopy(RuleNumber rule);  // true for the rule `second_copy` (second_copies.h)

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_RULES_H_
