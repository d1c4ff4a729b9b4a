// Memoir's rules: what a block is, from what was seen of it. The first rule that holds counts.
#ifndef TOOLS_ANALYZE_RULES_RULES_H_
#define TOOLS_ANALYZE_RULES_RULES_H_

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "tools/analyze/rules/evidence.h"
#include "tools/analyze/rules/kept_as.h"

namespace memoir {

struct Rule {
  std::string_view name;  // "saved_for_backward"
  KeptAs kept;
  std::string_view detail;  // "recomputed"; "": none
  bool (*holds)(const Evidence&);
  std::string_view because;  // "a node of autograd read it in backward"
};

// In their order; the last holds always.
absl::Span<const Rule> Rules();
using RuleNumber = std::uint8_t;  // index in Rules()

RuleNumber RuleFor(const Evidence& evidence);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RULES_RULES_H_
