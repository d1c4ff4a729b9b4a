// Shortens names of C++ functions: removes parameters, template arguments and the return type.
#ifndef TOOLS_SYMBOLIZE_FUNCTION_NAME_H_
#define TOOLS_SYMBOLIZE_FUNCTION_NAME_H_

#include <string>
#include <string_view>

namespace memoir {

// Returns "at::impl::wrap::call" for "at::Tensor at::impl::wrap<float>::call(at::Tensor const&)". Returns texts that
// are not names of functions unchanged.
std::string ShortName(std::string_view demangled);
// Returns a symbol's name: demangled and shortened if it belongs to C++, otherwise unchanged.
std::string FunctionName(const char* symbol);

}  // namespace memoir

#endif  // TOOLS_SYMBOLIZE_FUNCTION_NAME_H_
