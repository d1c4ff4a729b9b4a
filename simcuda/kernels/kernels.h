// The registry of kernels, and of variables in device memory. Stores the names of kernels and counts launches. No
// kernel runs.
//
// A CUDA C++ library registers its kernels in static initialisers (some 20,000 for torch), so registering must be
// cheap: one insertion. Any thread.
#ifndef SIMCUDA_KERNELS_KERNELS_H_
#define SIMCUDA_KERNELS_KERNELS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simcuda/kernels/kernel_parameters.h"

namespace memoir::simcuda {

struct Kernel {
  const char* name;                                           // mangled
  std::optional<KernelParameters> parameters = std::nullopt;  // nullopt if no image lists them (see ParametersOfName)
  std::atomic<std::uint64_t> launches{0};
};

// Registers a kernel of the program. `host`: the host function that represents it. `name` must stay valid.
void RegisterKernel(const void* host, const char* name);
// Returns the kernel registered for `host`. A kernel named "(unknown)" if `host` is not registered.
Kernel& FindKernel(const void* host);
// Creates a kernel of a module that was loaded at run time (cuModuleLoad). Each call creates another kernel.
Kernel& NewKernel(const std::string& name, std::optional<KernelParameters> parameters);

void CountLaunch(Kernel& kernel);
std::uint64_t LaunchesInAll();

// Returns (launches, mangled name) of each launched kernel. A name may occur more than once.
std::vector<std::pair<std::uint64_t, std::string>> LaunchedKernels();

// Registers a variable in device memory. `host`: the host variable that represents it.
void RegisterVariable(const void* host, std::size_t bytes);
// Returns the variable's address on `device`. 0 if the variable is not registered, or the device has no room for it.
std::uint64_t VariableAddress(const void* host, int device);
// Returns the variable's size. 0 if it is not registered.
std::size_t VariableBytes(const void* host);

}  // namespace memoir::simcuda

#endif  // SIMCUDA_KERNELS_KERNELS_H_
