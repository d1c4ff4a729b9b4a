// How much more memory a step needs the larger its input is: of the steps before an out-of-memory error, what was
// allocated at their peaks and the bytes of inputs live then. Answers which input would have fitted, where steps had
// inputs of different sizes (sequences of different lengths) and their peaks lie on a line.
//
// Follows the processes of a replay one after another.
#ifndef TOOLS_ANALYZE_OOM_INPUT_GROWTH_H_
#define TOOLS_ANALYZE_OOM_INPUT_GROWTH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/pass/loop_position.h"
#include "tools/model/event.h"

namespace memoir {

struct FittingInput {
  std::uint64_t steps = 0;          // that the line is of
  std::uint64_t input_bytes = 0;    // of inputs that were live at the error
  std::uint64_t fitting_bytes = 0;  // of inputs whose step would have fitted; less than input_bytes
};

class InputGrowth {
 public:
  // A process begins.
  void Clear();
  // `allocated`: by the caching allocator of the device, the block included.
  void Allocated(const Block& block, bool is_input, std::uint64_t allocated);
  void Freed(const Block& block);
  void StepBegins(StepKind kind);

  // `usable`: bytes that tensors could have had. Empty: too few steps, inputs of one size, no line, or steps that are
  // calls of a module, which begin when their inputs are there.
  std::optional<FittingInput> FitAt(DeviceId device, StepKind kind, std::uint64_t usable) const;

 private:
  struct Peak {
    double input = 0;  // bytes, as the next
    double allocated = 0;
  };
  struct Steps {
    Peak running;
    std::deque<Peak> over;      // the newest
    std::uint64_t skipped = 0;  // of the first
  };
  struct Device {
    std::uint64_t input = 0;      // bytes live now, as the next
    std::uint64_t allocated = 0;  // by the newest allocation
    std::array<Steps, kStepKinds> steps;
  };

  std::map<DeviceId, Device> devices_;
  absl::flat_hash_map<std::uint64_t, std::uint64_t> inputs_;  // bytes of those that are live, by Block::ordinal
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_OOM_INPUT_GROWTH_H_
