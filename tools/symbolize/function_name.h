// Names of C++ functions as people say them: without parameters, template arguments and what is returned.
#ifndef TOOLS_SYMBOLIZE_FUNCTION_NAME_H_
#define TOOLS_SYMBOLIZE_FUNCTION_NAME_H_

#include <string>
#include <string_view>

namespace memoir {

// "at::Tensor at::impl::wrap<float>::call(at::Tensor const&)" -> "at::impl::wrap::call". What it cannot read stays.
std::string ShortName(std::string_view demangled);
// Of a symbol: demangled and short where it is of C++, else as it is.
std::string FunctionName(const char* symbol);

}  // namespace memoir

#endif  // TOOLS_SYMBOLIZE_FUNCTION_NAME_H_
