// Numbers operator calls from 0, for `memoir explain OPERATOR#n`. Calls of one process that begin in the selection
// count, whether or not they are inside of other operators. A name without overload includes all overloads of the
// operator.
#ifndef TOOLS_ANALYZE_PASS_OPERATOR_NUMBERS_H_
#define TOOLS_ANALYZE_PASS_OPERATOR_NUMBERS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/event/dictionary.h"

namespace memoir {

// Returns true if `name` is the operator `asked` or one of its overloads: "aten::add.Tensor" for "aten::add".
bool IsOperatorNamed(std::string_view name, std::string_view asked);

class OperatorNumbers {
 public:
  // Returns the number of a call that begins now. `name`: the operator's name, with its overload.
  std::uint64_t BeginCall(NameId name, const Dictionary& dictionary);
  void Clear();  // begins to number from 0 again, for the next process

 private:
  static constexpr std::uint32_t kNotLookedAt = 0xffffffffu;
  struct OperatorCount {
    std::uint64_t calls = 0;
    std::uint32_t all_overloads = kNotLookedAt;  // index in all_overloads_
    bool has_overload = false;
  };

  std::vector<OperatorCount> names_;                       // by NameId
  std::vector<std::uint64_t> all_overloads_;               // numbers of calls, counted over all overloads of a name
  absl::flat_hash_map<std::string, std::uint32_t> place_;  // index in all_overloads_, by name without overload
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_OPERATOR_NUMBERS_H_
