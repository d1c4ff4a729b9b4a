// Names of CUDA kernels, for people. Captures have them mangled, as compilers do (Itanium C++ ABI), and perhaps cut.
#ifndef TOOLS_MODEL_KERNEL_NAME_H_
#define TOOLS_MODEL_KERNEL_NAME_H_

#include <optional>
#include <string>
#include <string_view>

namespace memoir {

// "_ZN2at6native29vectorized_elementwise_kernelILi4E..." is "at::native::vectorized_elementwise_kernel<...>", a kernel
// that is no template "copy_kernel"; arguments are left out. A name that is not mangled ("triton_poi_fused_add_0"), or
// not in a way that is known here, stays as it is. Takes time in proportion to the name, whatever it holds.
std::string KernelName(std::string_view mangled);
// The same without its namespaces: "vectorized_elementwise_kernel<...>".
std::string ShortKernelName(std::string_view mangled);

// As CUPTI and torch.profiler have it, with "<...>" and "(...)" for arguments: "void at::native::..._kernel<...>(...)".
std::string KernelSignature(std::string_view mangled);

// Takes "6native" off the front of what is left of a mangled name; nothing: it does not begin so.
std::optional<std::string_view> TakeIdentifier(std::string_view& text);

}  // namespace memoir

#endif  // TOOLS_MODEL_KERNEL_NAME_H_
