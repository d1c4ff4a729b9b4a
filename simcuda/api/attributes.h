// Attributes and properties of a card, from its profile, and the number of thread blocks that a multiprocessor can run.
#ifndef SIMCUDA_API_ATTRIBUTES_H_
#define SIMCUDA_API_ATTRIBUTES_H_

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "simcuda/user_tables/card_profile.h"

namespace memoir::simcuda {

// The version of CUDA that the simulated libraries report: the version of the headers with which they were compiled.
constexpr int kCudaVersion = CUDART_VERSION;

// Returns a device attribute. The runtime and the driver use the same numbers. 0 for an attribute that the card lacks.
int Attribute(const CardProfile& profile, int ordinal, int attribute);
void FillProperties(const CardProfile& profile, int ordinal, cudaDeviceProp& properties);
// Writes the PCI bus id: "0000:10:00.0".
void FillBusId(int ordinal, char* text, int length);
// Returns the device with a PCI bus id. -1 if no device has it.
int OrdinalOfBusId(const char* text);
// Writes 16 bytes that differ between devices.
void FillUuid(int ordinal, char* bytes);

// Returns how many thread blocks one multiprocessor runs at once, if each has `threads` threads and `shared` bytes of
// shared memory; at least 1.
int BlocksPerMultiprocessor(const CardProfile& profile, int threads, std::size_t shared);

}  // namespace memoir::simcuda

#endif  // SIMCUDA_API_ATTRIBUTES_H_
