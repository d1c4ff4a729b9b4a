// What parameters a kernel takes, as far as the device must know it to find the addresses in them.
//
// Of a module that is loaded at run time (triton's, nvrtc's) the image says how long each is: cubins of NVIDIA's
// compiler, and PTX. Of a kernel that nvcc compiled into the program there is the C++ name, which has their types.
//
// Pure; any thread.
#ifndef INTERPOSE_SIMCUDA_KERNEL_PARAMETERS_H_
#define INTERPOSE_SIMCUDA_KERNEL_PARAMETERS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memoir::simcuda {

// Of each parameter: how many bytes of it may hold addresses of what the kernel writes; 0 for a number, and for a
// pointer to const.
using KernelParameters = std::vector<std::uint32_t>;

// By the kernel's name. Kernels of images in other forms (fat binaries, whose parts may be compressed) are not there.
using ModuleParameters = std::map<std::string, KernelParameters, std::less<>>;
ModuleParameters ParametersOfImage(std::string_view image);
// How long the image that begins there is, by its own word; 0 for what is none of those forms.
std::size_t BytesOfImage(const void* image);

// nullopt where the name does not tell: an extern "C" kernel, or one with a structure by value.
std::optional<KernelParameters> ParametersOfName(const char* mangled);

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_KERNEL_PARAMETERS_H_
