// Records the memory that NVIDIA's libraries (such as cuBLAS and NCCL) take on the simulated device for their own use.
// No CUDA call allocates this memory, so the simulated device calls an observer function whenever the memory of a
// library grows or is freed, and when it refuses memory to a library.
//
// This code needs no library except libc. Its functions may be called on any thread.
#ifndef INTERPOSE_CUDA_SIMULATED_LIBRARIES_H_
#define INTERPOSE_CUDA_SIMULATED_LIBRARIES_H_

#include <cstdint>

namespace memoir {

// Registers the observer if the process has a simulated device. Call it while holding a LoaderListGuard. Does nothing
// if the observer is registered already.
void ObserveSimulatedLibraries();

// Returns the bytes that the simulated device last refused to a library on the calling thread, since the previous call
// of this function. 0 if no bytes were refused, or the device is not simulated.
std::uint64_t TakeRefusedOfLibraries();

}  // namespace memoir

#endif  // INTERPOSE_CUDA_SIMULATED_LIBRARIES_H_
