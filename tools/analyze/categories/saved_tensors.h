// What the node of autograd that an operator makes saves for backward, by torch's own table of derivatives
// (saved_by_operators.def). An operator that is not in it may save all that it is given or gives.
#ifndef TOOLS_ANALYZE_CATEGORIES_SAVED_TENSORS_H_
#define TOOLS_ANALYZE_CATEGORIES_SAVED_TENSORS_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace memoir {

struct SavedTensors {
  static constexpr std::uint8_t kAlways = 0xff;
  struct Argument {
    std::uint8_t position = 0;         // in the schema
    std::uint8_t wanted_by = kAlways;  // saved only where the argument at that position wants a gradient
  };
  std::vector<Argument> arguments;
  std::vector<std::uint8_t> results;  // positions
  bool makes_none = false;            // no result of it wants a gradient
  bool is_view = false;               // its result mostly lies in the memory of an argument
};

// "aten::add.Tensor"; nullptr: not in the table.
const SavedTensors* SavedBy(std::string_view operator_name);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_SAVED_TENSORS_H_
