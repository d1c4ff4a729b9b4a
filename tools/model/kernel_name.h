// Converts mangled names of CUDA kernels (Itanium C++ ABI) to readable names. Names in captures are mangled, and may be
// cut off.
#ifndef TOOLS_MODEL_KERNEL_NAME_H_
#define TOOLS_MODEL_KERNEL_NAME_H_

#include <optional>
#include <string>
#include <string_view>

namespace memoir {

// Returns "at::native::vectorized_elementwise_kernel<...>" for "_ZN2at6native29vectorized_elementwise_kernelILi4E...".
// Returns "copy_kernel" for a kernel that is not a template. Arguments are omitted. If a name is not mangled
// ("triton_poi_fused_add_0"), or is mangled in an unknown way, it is returned unchanged. The time is proportional to
// the length of `mangled`, even for a hostile capture.
std::string KernelName(std::string_view mangled);
// Returns KernelName without namespaces: "vectorized_elementwise_kernel<...>".
std::string ShortKernelName(std::string_view mangled);

// Returns "void at::native::..._kernel<...>(...)". This is the form of CUPTI and torch.profiler, with "..." in place of
// the arguments.
std::string KernelSignature(std::string_view mangled);

// Removes a mangled identifier, its length and its text ("6native"), from the front of `text`, and returns its text
// ("native"). nullopt if `text` does not begin with an identifier.
std::optional<std::string_view> TakeIdentifier(std::string_view& text);

}  // namespace memoir

#endif  // TOOLS_MODEL_KERNEL_NAME_H_
