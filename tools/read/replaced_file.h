// Writes a small file as a whole beside a capture's parts.
#ifndef TOOLS_READ_REPLACED_FILE_H_
#define TOOLS_READ_REPLACED_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace memoir {

// A reader finds the old one or the new one, never a half. While it is written it is called "PATH.partial-PID", and
// locked. Errors say what to do.
absl::Status ReplaceFile(const std::string& path, std::string_view bytes);

// For files of which a reader can tell a half: a first one is written in its place, which the file system of a job of
// thousands of ranks has one change of names for, and not two.
absl::Status CreateOrReplaceFile(const std::string& path, std::string_view bytes);

// Removes what processes have left that were killed while they wrote `path`: nobody has it locked any more.
void RemovePartial(const std::string& path);

}  // namespace memoir

#endif  // TOOLS_READ_REPLACED_FILE_H_
