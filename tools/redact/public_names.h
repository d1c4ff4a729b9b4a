// Names that a redacted capture keeps, because everybody knows them: those of PyTorch, of Python, of the system. What
// is in none of these lists is hashed.
//
// Pure; any thread.
#ifndef TOOLS_REDACT_PUBLIC_NAMES_H_
#define TOOLS_REDACT_PUBLIC_NAMES_H_

#include <string_view>

namespace memoir {

// PyTorch's operators, nodes, classes and ranges (torch_names.def); names that its wrappers and Python's protocols
// have.
bool IsPublicName(std::string_view name);
// "home", "site-packages", "python3.12": folders that say nothing.
bool IsPublicFolder(std::string_view folder);
// "py", "so": what may stand behind the dot of a file's name.
bool IsPublicExtension(std::string_view extension);
// Of a library, what its name begins with, up to where another one's could go on: "libc10_cuda". "": of no public one.
std::string_view PublicLibrary(std::string_view stem);
// "at", "cub", "std": what is in it is PyTorch's, NVIDIA's or C++'s.
bool IsPublicNamespace(std::string_view name);
// Of a schema or of C++: "Tensor", "unsigned".
bool IsPublicType(std::string_view word);

}  // namespace memoir

#endif  // TOOLS_REDACT_PUBLIC_NAMES_H_
