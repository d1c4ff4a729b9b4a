// Numbers of operator calls as `memoir explain OPERATOR#n` counts them: calls of one process that begin in the window,
// outermost or not, from 0. An operator that is named without overload stands for all its overloads.
#ifndef TOOLS_ANALYZE_PASS_OPERATOR_NUMBERS_H_
#define TOOLS_ANALYZE_PASS_OPERATOR_NUMBERS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/dictionary.h"

namespace memoir {

// Whether a call of `name` is one of the operator `asked`: "aten::add.Tensor" is one of "aten::add".
bool IsOperatorNamed(std::string_view name, std::string_view asked);

class OperatorNumbers {
 public:
  // The number of a call that begins now, under its full name.
  std::uint64_t Begin(NameId name, const Dictionary& dictionary);
  void Clear();

 private:
  static constexpr std::uint32_t kNotLookedAt = 0xffffffffu;
  struct Counted {
    std::uint64_t calls = 0;
    std::uint32_t all_overloads = kNotLookedAt;  // in all_overloads_
    bool has_overload = false;
  };

  std::vector<Counted> names_;                             // by NameId
  std::vector<std::uint64_t> all_overloads_;               // calls
  absl::flat_hash_map<std::string, std::uint32_t> place_;  // by name without overload, in all_overloads_
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_OPERATOR_NUMBERS_H_
