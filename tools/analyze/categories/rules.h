// Memoir's rules: what a block is, from what was seen of it. The first rule that holds counts.
#ifndef TOOLS_ANALYZE_CATEGORIES_RULES_H_
#define TOOLS_ANALYZE_CATEGORIES_RULES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "tools/analyze/categories/category.h"
#include "tools/analyze/categories/evidence.h"

namespace memoir {

// Who keeps what a rule is about from being freed.
enum class Keeper : std::uint8_t {
  kNotKnown,
  kHolder,         // who holds the parameter
  kGradient,       // .grad of the parameter
  kOptimizer,      // as state of the parameter
  kGraph,          // autograd's, for backward
  kUnusedGraph,    // likewise, but no backward came
  kRetainedGraph,  // likewise, after a backward that kept it
  kAutograd,       // on its way to the next node
  kProgram,        // its own references
  kMaker,          // what made it: an operator, a node, a step
  kLibrary,
  kCompiler,  // torch.compile
  kRanks,     // who puts their parts together
};

struct Rule {
  std::string_view name;  // "saved_for_backward"
  Category kept;
  std::string_view detail;  // "recomputed"; "": none
  Keeper keeper;
  bool (*holds)(const Evidence&);
  std::string_view because;  // "made in forward, read in backward"
};

// In their order; the last holds always.
absl::Span<const Rule> Rules();
using RuleNumber = std::uint8_t;  // index in Rules()
inline constexpr std::size_t kMostRules = 64;

RuleNumber RuleFor(const Evidence& evidence);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_RULES_H_
