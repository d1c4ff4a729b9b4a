// Finds second copies of a model's parameters by shape and dtype, without other evidence. The inputs that the program
// made on one device between two calls of modules are a second copy if each parameter of a model has its own input of
// the same shape and dtype. A state dictionary that was loaded to the device and kept is such a copy.
//
// One object is used for all processes of a replay, one after another.
#ifndef TOOLS_ANALYZE_CATEGORIES_SECOND_COPIES_H_
#define TOOLS_ANALYZE_CATEGORIES_SECOND_COPIES_H_

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "tools/analyze/categories/parameter_book.h"
#include "tools/model/event/event.h"

namespace memoir {

class SecondCopies {
 public:
  // The layouts of the block's first and newest tensor. The first tensor of a loaded block consists of plain bytes.
  using Layouts = std::array<LayoutId, 2>;

  // Adds an input of the program. `module_calls`: number of module calls before the input was made.
  void Note(const Block& block, const Layouts& layouts, std::uint64_t module_calls);
  // Returns the ordinals of the inputs that are second copies in the process that ends. `parameters`: the labelled
  // parameters of all processes so far.
  std::vector<std::uint64_t> EndProcess(ProcessId process, absl::Span<const Parameter> parameters);

 private:
  using Counts = std::map<LayoutId, std::uint64_t>;
  struct Input {
    std::uint64_t ordinal = 0;
    Layouts layouts;
  };
  using Inputs = std::vector<Input>;

  // `missing`: the number of parameters of each layout. Returns the ordinals of the inputs that match them, one for
  // each parameter. Empty if a parameter has no match.
  static std::vector<std::uint64_t> Matching(const Inputs& inputs, Counts missing);

  std::map<std::pair<DeviceId, std::uint64_t>, Inputs> inputs_;  // by device and number of module calls before
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_SECOND_COPIES_H_
