// Redacts paths folder by folder, so the redacted paths of files in one folder still share this folder. Folders of
// Python, PyTorch and the system keep their names.
//
// Call these functions on the thread that uses `hashes`.
#ifndef TOOLS_REDACT_HASHED_PATHS_H_
#define TOOLS_REDACT_HASHED_PATHS_H_

#include <string>
#include <string_view>

#include "tools/redact/name_hashes.h"

namespace memoir {

struct HashedFile {
  std::string path;
  bool is_public = false;  // belongs to PyTorch, Python or Memoir, so its functions are public too
};
// Redacts a path, a file name, or Python's text for code without a file ("<string>").
HashedFile HashedFileOf(std::string_view path, NameHashes& hashes);

// Redacts the qualified name of Python code: "Net.forward", "<built-in function len>",
// "torch_dynamo_resume_in_forward_at_12".
std::string HashedCode(std::string_view function, NameHashes& hashes);

// Returns true for the file name of a library, such as "libnccl.so.2".
bool IsLibraryName(std::string_view name);

}  // namespace memoir

#endif  // TOOLS_REDACT_HASHED_PATHS_H_
