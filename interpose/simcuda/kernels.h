// Kernels: known by name, launched, and never run.
//
// A library of CUDA C++ registers its kernels from static initialisers (some 20,000 for torch), so registering is one
// insertion. Any thread.
#ifndef INTERPOSE_SIMCUDA_KERNELS_H_
#define INTERPOSE_SIMCUDA_KERNELS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "interpose/simcuda/kernel_parameters.h"

namespace memoir::simcuda {

struct Kernel {
  const char* name;                                           // mangled
  std::optional<KernelParameters> parameters = std::nullopt;  // where a module's image tells
  std::atomic<std::uint64_t> launches{0};
};

// A kernel of the program's: `host` is the function that stands for it in host code. `name` must stay.
void RegisterKernel(const void* host, const char* name);
// The kernel registered for `host`; one named "(unknown)" when there is none.
Kernel& FindKernel(const void* host);
// A kernel of a module that was loaded at run time. Each call makes one.
Kernel& NewKernel(const std::string& name, std::optional<KernelParameters> parameters);

void CountLaunch(Kernel& kernel);
std::uint64_t LaunchesInAll();

// (launches, mangled name) of each that was launched; names may repeat.
std::vector<std::pair<std::uint64_t, std::string>> LaunchedKernels();

// A variable in device memory.
void RegisterVariable(const void* host, std::size_t bytes);
// Where it lives on `device`; 0 when it was not registered, or did not fit.
std::uint64_t VariableAddress(const void* host, int device);
// Its size; 0 when it was not registered.
std::size_t VariableBytes(const void* host);

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_KERNELS_H_
