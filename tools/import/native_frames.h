// What frames of C++ in a stack of torch say (stacks="all"): the operator and the autograd node that allocated, by the
// names of the functions through which torch calls them.
#ifndef TOOLS_IMPORT_NATIVE_FRAMES_H_
#define TOOLS_IMPORT_NATIVE_FRAMES_H_

#include <string>
#include <string_view>

namespace memoir {

// By its file.
bool IsPythonFile(std::string_view file);

// "aten::mm" of "at::_ops::mm::call(at::Tensor const&, ...)"; "" of another function. The overload, which stands behind
// the name, is left out where it can be told: "at::_ops::add_Tensor::call" is aten::add.
std::string OperatorOf(std::string_view function);

// "AddmmBackward0" of "torch::autograd::generated::AddmmBackward0::apply(...)". Around each, and where torch sums a
// gradient before the next one, is the "autograd engine". "" of another function.
std::string_view AutogradNodeOf(std::string_view function);

// Of the allocator, the unwinder, the dispatcher and Python's interpreter: they are in every stack, around or inside of
// what a reader looks for. Mostly those that torch.cuda._memory_viz leaves out.
bool IsPlumbing(std::string_view function, std::string_view file);

}  // namespace memoir

#endif  // TOOLS_IMPORT_NATIVE_FRAMES_H_
