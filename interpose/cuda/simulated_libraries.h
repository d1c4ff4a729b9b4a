// What the simulated device charges for NVIDIA's libraries themselves: no call gets it, so the device says it.
//
// libc only. Any thread.
#ifndef INTERPOSE_CUDA_SIMULATED_LIBRARIES_H_
#define INTERPOSE_CUDA_SIMULATED_LIBRARIES_H_

#include <cstdint>

namespace memoir {

// With a turn at the loader: where there is a simulated device in the process, it is asked to tell. Again does nothing.
void ObserveSimulatedLibraries();

// Bytes that the calling thread's last charge was refused, since this was asked last; 0: none was, or nobody tells.
std::uint64_t TakeRefusedOfLibraries();

}  // namespace memoir

#endif  // INTERPOSE_CUDA_SIMULATED_LIBRARIES_H_
