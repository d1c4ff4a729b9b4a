// Finds the operator and the autograd node of an allocation in the C++ frames of a torch stack (stacks="all"). Torch
// calls operators and nodes through functions whose names contain the names of these operators and nodes.
#ifndef TOOLS_IMPORT_SNAPSHOT_NATIVE_FUNCTION_NAMES_H_
#define TOOLS_IMPORT_SNAPSHOT_NATIVE_FUNCTION_NAMES_H_

#include <string>
#include <string_view>

namespace memoir {

// Returns true if `file` is the name of a Python file.
bool IsPythonFile(std::string_view file);

// Returns "aten::mm" for "at::_ops::mm::call(at::Tensor const&, ...)". Empty for other functions. Omits the overload in
// the function's name if it can be recognised: "aten::add" for "at::_ops::add_Tensor::call".
std::string OperatorOf(std::string_view function);

// Returns "AddmmBackward0" for "torch::autograd::generated::AddmmBackward0::apply(...)". Returns "autograd engine" for
// the engine's function around each node, in which torch also sums gradients. Empty for other functions.
std::string_view AutogradNodeOf(std::string_view function);

// Returns true for functions of the allocator, the unwinder, the dispatcher and Python's interpreter, which are part of
// every stack. torch.cuda._memory_viz omits about the same frames.
bool IsPlumbing(std::string_view function, std::string_view file);

}  // namespace memoir

#endif  // TOOLS_IMPORT_SNAPSHOT_NATIVE_FUNCTION_NAMES_H_
