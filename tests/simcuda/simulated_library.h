// libmemoir_simcuda.so as a program meets it: loaded, its functions found by name, with the types of NVIDIA's headers.
//
// The tests' machine: two L4 with 4 GiB each (simulated_library.cc).
#ifndef TESTS_SIMCUDA_SIMULATED_LIBRARY_H_
#define TESTS_SIMCUDA_SIMULATED_LIBRARY_H_

#include <cstdint>

namespace memoir::simcuda {

constexpr std::uint64_t kTestMemory = 4ull << 30;
constexpr std::uint64_t kTestContext = 260ull << 20;  // of profiles.txt
constexpr std::uint64_t kMebibyte = 1u << 20;

// nullptr when the library has no such function.
void* Symbol(const char* name);

// Free bytes on the current device.
std::uint64_t FreeBytes();

}  // namespace memoir::simcuda

// SIM(cudaMalloc)(&pointer, 1000)
#define SIM(function) (reinterpret_cast<decltype(&function)>(::memoir::simcuda::Symbol(#function)))

#endif  // TESTS_SIMCUDA_SIMULATED_LIBRARY_H_
