// Lists the public names of PyTorch, Python and the system, which stay in a redacted capture. All other names are
// hashed.
//
// Pure; any thread.
#ifndef TOOLS_REDACT_PUBLIC_NAMES_H_
#define TOOLS_REDACT_PUBLIC_NAMES_H_

#include <string_view>

namespace memoir {

// Returns true for PyTorch's operators, nodes, classes and ranges (data/torch_names.txt), and for common names of its
// wrapper modules and of Python.
bool IsPublicName(std::string_view name);
// Returns true for folders that reveal nothing: "home", "site-packages", "python3.12".
bool IsPublicFolder(std::string_view folder);
// Returns true for extensions of file names: "py", "so".
bool IsPublicExtension(std::string_view extension);
// Returns the public part at the begin of a library's name, up to where a private name could continue: "libc10_cuda".
// Empty if the library is not public.
std::string_view PublicLibrary(std::string_view stem);
// Returns true for namespaces of PyTorch, NVIDIA and C++, whose names are public: "at", "cub", "std".
bool IsPublicNamespace(std::string_view name);
// Returns true for types of a schema or of C++: "Tensor", "unsigned".
bool IsPublicType(std::string_view word);

}  // namespace memoir

#endif  // TOOLS_REDACT_PUBLIC_NAMES_H_
