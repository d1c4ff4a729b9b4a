// Finds the parameters of a kernel that may contain addresses.
//
// The image of a module that is loaded at run time (by triton or nvrtc) contains the length of each parameter. Memoir
// reads two forms of images: cubins of NVIDIA's compiler, and PTX. For a kernel that nvcc compiled into the program,
// its C++ name contains the types.
//
// Pure functions; any thread.
#ifndef SIMCUDA_KERNELS_KERNEL_PARAMETERS_H_
#define SIMCUDA_KERNELS_KERNEL_PARAMETERS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memoir::simcuda {

// For each parameter, how many of its bytes may contain addresses of written memory. 0 for numbers and for pointers to
// const.
using KernelParameters = std::vector<std::uint32_t>;

// Parameters by kernel name. Empty for images in other forms (fat binaries, whose parts may be compressed).
using ModuleParameters = std::map<std::string, KernelParameters, std::less<>>;
ModuleParameters ParametersOfImage(std::string_view image);
// Returns the length of the image at `image`, as its header states it; 0 for other formats.
std::size_t BytesOfImage(const void* image);

// Finds the parameters by the kernel's mangled name. nullopt if the name does not contain enough: an extern "C" kernel,
// or one with a structure passed by value.
std::optional<KernelParameters> ParametersOfName(const char* mangled);

}  // namespace memoir::simcuda

#endif  // SIMCUDA_KERNELS_KERNEL_PARAMETERS_H_
