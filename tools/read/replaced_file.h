// Writes a small file as a whole beside a capture's parts: a reader finds the old one or the new one, never a half.
#ifndef TOOLS_READ_REPLACED_FILE_H_
#define TOOLS_READ_REPLACED_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace memoir {

// While it is written it is called "PATH.partial-PID", and locked. Errors say what to do.
absl::Status ReplaceFile(const std::string& path, std::string_view bytes);

// The same where a reader can tell half a file from a whole one: where there is none yet it is written in its place,
// which is one change of names in the place of two. Thousands of ranks do that at once on a shared file system.
absl::Status CreateOrReplaceFile(const std::string& path, std::string_view bytes);

// Removes what processes have left that were killed while they wrote `path`: nobody has it locked any more.
void RemovePartial(const std::string& path);

}  // namespace memoir

#endif  // TOOLS_READ_REPLACED_FILE_H_
