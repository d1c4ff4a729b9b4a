// Finds how small the inputs of a step with an out-of-memory error would have to be for the step to fit. The bytes at a
// step's peak depend on the bytes of inputs that are live at this peak. A straight line through the peaks of earlier
// steps shows how. The steps must have inputs of different sizes (sequences of different lengths), and their peaks must
// lie on a straight line.
//
// One object follows the processes of a replay, one after another.
#ifndef TOOLS_ANALYZE_OOM_FITTING_INPUT_H_
#define TOOLS_ANALYZE_OOM_FITTING_INPUT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/pass/loop_position.h"
#include "tools/model/event/event.h"

namespace memoir {

struct FittingInput {
  std::uint64_t steps = 0;          // number of earlier steps to which the line was fitted
  std::uint64_t input_bytes = 0;    // bytes of live inputs at the error
  std::uint64_t fitting_bytes = 0;  // largest input bytes with which the step would have fitted; less than input_bytes
};

class FittingInputFinder {
 public:
  // Call it when a process begins.
  void Clear();
  // `allocated`: bytes that the device's caching allocator has allocated, including `block`.
  void NoteAllocation(const Block& block, bool is_input, std::uint64_t allocated);
  void NoteFree(const Block& block);
  void SeeStepBegin(StepKind kind);

  // Returns the inputs with which the step would have fitted into `usable` bytes, the bytes that tensors can use.
  // nullopt if there are too few steps, if all inputs have nearly one size, or if the peaks do not lie on a line. Also
  // nullopt if the line shows that the current inputs fit, or that no inputs fit. Also nullopt if the steps are module
  // calls, because the inputs of a module call are allocated before the call begins.
  std::optional<FittingInput> FindFit(DeviceId device, StepKind kind, std::uint64_t usable) const;

 private:
  struct Peak {
    double input = 0;      // bytes of live inputs
    double allocated = 0;  // bytes
  };
  struct Steps {
    Peak running;               // peak of the current step so far
    std::deque<Peak> over;      // peaks of the newest ended steps
    std::uint64_t skipped = 0;  // number of first steps that were left out (kFirstSteps)
  };
  struct Device {
    std::uint64_t input = 0;      // bytes of live inputs now
    std::uint64_t allocated = 0;  // bytes at the newest allocation
    std::array<Steps, kStepKinds> steps;
  };

  std::map<DeviceId, Device> devices_;
  absl::flat_hash_map<std::uint64_t, std::uint64_t> inputs_;  // bytes of live inputs, by Block::ordinal
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_OOM_FITTING_INPUT_H_
