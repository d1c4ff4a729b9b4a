// Draws random numbers of a simulated GPU's generator on the host.
//
// The state of a CUDA generator is a seed and an offset; torch's own code advances the offset. The host draws from a
// Mersenne twister. At offset 0, the twister has its state after manual_seed(seed). At another offset, it has its state
// after the draw that moved the GPU's generator to this offset. So a program that draws only on the GPU gets the same
// numbers as on the CPU, and a restored state (set_rng_state, checkpointing) repeats the same values. The program's CPU
// generators do not change.
//
// Any thread.
#ifndef SIMCUDA_TORCH_VALUES_HOST_RANDOM_STATE_H_
#define SIMCUDA_TORCH_VALUES_HOST_RANDOM_STATE_H_

#include <ATen/core/Generator.h>
#include <c10/core/Device.h>

#include <cstdint>

namespace memoir {

// The position of a GPU generator.
struct RandomPosition {
  std::uint64_t seed = 0, offset = 0;
};

// Returns the position of a generator. `generator`: the operator's argument; undefined: the default generator of
// `device`.
RandomPosition PositionOf(const at::Generator& generator, c10::Device device);

// Sets this thread's CPU generator to `position`, and returns it. The generator is valid until the next call.
at::Generator HostGeneratorAt(RandomPosition position);
// Stores the state of `host` for `position`, to which an operator has moved the GPU's generator.
void KeepHostGenerator(const at::Generator& host, RandomPosition position);

}  // namespace memoir

#endif  // SIMCUDA_TORCH_VALUES_HOST_RANDOM_STATE_H_
