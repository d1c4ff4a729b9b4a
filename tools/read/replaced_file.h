// Replaces a small file in a capture folder atomically.
#ifndef TOOLS_READ_REPLACED_FILE_H_
#define TOOLS_READ_REPLACED_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace memoir {

// Replaces the file so that a reader finds the old or the new file, never an incomplete one. While the new file is
// written, it is locked and named "PATH.partial-PID". Error messages contain the remedy.
absl::Status ReplaceFile(const std::string& path, std::string_view bytes);

// Writes a file whose readers detect an incomplete file. If no file exists at `path`, writes directly to `path`, which
// saves one rename for each rank in a job of thousands. Otherwise calls ReplaceFile.
absl::Status CreateOrReplaceFile(const std::string& path, std::string_view bytes);

// Removes the unlocked partial files of processes that were killed while they wrote `path`.
void RemovePartial(const std::string& path);

}  // namespace memoir

#endif  // TOOLS_READ_REPLACED_FILE_H_
