// What a card says of itself, from its profile: attributes, properties, how many blocks a multiprocessor holds.
#ifndef INTERPOSE_SIMCUDA_API_ATTRIBUTES_H_
#define INTERPOSE_SIMCUDA_API_ATTRIBUTES_H_

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "interpose/simcuda/user_tables/profile.h"

namespace memoir::simcuda {

// CUDA that the stand-ins answer for: the one whose headers they were compiled with.
constexpr int kCudaVersion = CUDART_VERSION;

// The runtime's attributes have the driver's numbers. 0 for those that a card lacks.
int Attribute(const Profile& profile, int ordinal, int attribute);
void FillProperties(const Profile& profile, int ordinal, cudaDeviceProp& properties);
// "0000:10:00.0"
void FillBusId(int ordinal, char* text, int length);
// -1: no such bus.
int OrdinalOfBusId(const char* text);
// Sixteen bytes that differ between devices.
void FillUuid(int ordinal, char* bytes);

// Blocks of `threads` threads and `shared` bytes that one multiprocessor holds at once; at least 1.
int BlocksPerMultiprocessor(const Profile& profile, int threads, std::size_t shared);

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_API_ATTRIBUTES_H_
