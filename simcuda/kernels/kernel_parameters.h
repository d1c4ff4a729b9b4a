// Finds out which parameters of a kernel may contain addresses.
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

// For each parameter, how many of its bytes may contain addresses of memory that the kernel writes. From an image: the
// parameter's length. From a name: 8 for a pointer, but 0 for numbers and for pointers to const numbers.
using KernelParameters = std::vector<std::uint32_t>;

// Parameters by kernel name. Empty for images in other forms (fat binaries, whose parts may be compressed).
using ModuleParameters = std::map<std::string, KernelParameters, std::less<>>;
ModuleParameters ParametersOfImage(std::string_view image);
// Returns the length of the cubin or PTX at `image`. 0 for an image in another form.
std::size_t BytesOfImage(const void* image);

// Finds the parameters from the types in the kernel's mangled name. nullopt for an extern "C" kernel, whose name has no
// types, and for a kernel with a structure passed by value.
std::optional<KernelParameters> ParametersOfName(const char* mangled);

}  // namespace memoir::simcuda

#endif  // SIMCUDA_KERNELS_KERNEL_PARAMETERS_H_
