// Paths as a redacted capture has them: folder by folder, so that two files of one folder still are, and what belongs
// to Python, PyTorch or the system still is theirs.
//
// Used by one thread, that of `hashes`.
#ifndef TOOLS_REDACT_PATHS_H_
#define TOOLS_REDACT_PATHS_H_

#include <string>
#include <string_view>

#include "tools/redact/name_hashes.h"

namespace memoir {

struct HashedFile {
  std::string path;
  bool is_public = false;  // of PyTorch, Python or Memoir: what is in it, too, everybody knows
};
// A path, the name of a file alone, or what Python says in place of one ("<string>").
HashedFile HashedFileOf(std::string_view path, NameHashes& hashes);

// The qualified name of Python code: "Net.forward", "<built-in function len>", "torch_dynamo_resume_in_forward_at_12".
std::string HashedCode(std::string_view function, NameHashes& hashes);

// Whether it is the file name of a library, such as "libnccl.so.2".
bool IsLibraryName(std::string_view name);

}  // namespace memoir

#endif  // TOOLS_REDACT_PATHS_H_
