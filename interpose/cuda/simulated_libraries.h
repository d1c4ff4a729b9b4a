// Records the memory that the simulated device charges for NVIDIA's libraries. No CUDA call allocates this memory, so
// the device reports each charge to an observer.
//
// libc only. Any thread.
#ifndef INTERPOSE_CUDA_SIMULATED_LIBRARIES_H_
#define INTERPOSE_CUDA_SIMULATED_LIBRARIES_H_

#include <cstdint>

namespace memoir {

// Registers the observer if the process has a simulated device. Call it while holding a LoaderListGuard. Does nothing
// if the observer is registered already.
void ObserveSimulatedLibraries();

// Returns the bytes of the calling thread's last refused charge since the previous call of this function. 0 if no
// charge was refused, or the device is not simulated.
std::uint64_t TakeRefusedOfLibraries();

}  // namespace memoir

#endif  // INTERPOSE_CUDA_SIMULATED_LIBRARIES_H_
