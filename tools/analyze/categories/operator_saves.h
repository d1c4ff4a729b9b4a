// The tensors that an operator's autograd node saves for backward, from torch's own table of derivatives
// (saved_by_operators.def). The node of an operator that is not in the table may save any argument and any result.
#ifndef TOOLS_ANALYZE_CATEGORIES_OPERATOR_SAVES_H_
#define TOOLS_ANALYZE_CATEGORIES_OPERATOR_SAVES_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace memoir {

struct OperatorSaves {
  static constexpr std::uint8_t kAlways = 0xff;
  struct Argument {
    std::uint8_t position = 0;         // index in the schema
    std::uint8_t wanted_by = kAlways;  // saved only if the argument with this index requires a gradient
  };
  std::vector<Argument> arguments;
  std::vector<std::uint8_t> results;  // indices of saved results
  bool makes_none = false;            // no result requires a gradient
  bool is_view = false;               // the result usually shares the memory of an argument
};

// Returns the entry of an operator such as "aten::add.Tensor". nullptr if the table has no entry for it.
const OperatorSaves* SavesOf(std::string_view operator_name);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_OPERATOR_SAVES_H_
