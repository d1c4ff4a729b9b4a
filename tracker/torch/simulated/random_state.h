// What a generator of the simulated GPU draws, when it is drawn on the host.
//
// A CUDA generator is a seed and an offset, which torch's own code moves on. The host draws from a Mersenne twister:
// one that manual_seed(seed) would give where the offset is 0, and otherwise the one that the last drawing left behind
// at this seed and offset. So a program that draws on the GPU alone gets what it would on the CPU, and states that are
// put back (set_rng_state, checkpointing) give the same values again. The CPU's own generators are not touched.
//
// Any thread.
#ifndef TRACKER_TORCH_SIMULATED_RANDOM_STATE_H_
#define TRACKER_TORCH_SIMULATED_RANDOM_STATE_H_

#include <ATen/core/Generator.h>
#include <c10/core/Device.h>

#include <cstdint>

namespace memoir {

// Where a generator of the GPU stands.
struct RandomPosition {
  std::uint64_t seed = 0, offset = 0;
};

// `generator`: the one given to an operator; undefined: the default one of `device`.
RandomPosition PositionOf(const at::Generator& generator, c10::Device device);

// A generator of the CPU that stands there; this thread's, valid until the next call.
at::Generator HostGeneratorAt(RandomPosition position);
// What was drawn from it by an operator that moved the GPU's generator on to `position`.
void KeepHostGenerator(const at::Generator& host, RandomPosition position);

}  // namespace memoir

#endif  // TRACKER_TORCH_SIMULATED_RANDOM_STATE_H_
