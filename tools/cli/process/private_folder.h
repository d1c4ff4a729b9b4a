// Creates folders for captures. Captures contain names of programs, modules and files, so other users have no access to
// these folders.
#ifndef TOOLS_CLI_PROCESS_PRIVATE_FOLDER_H_
#define TOOLS_CLI_PROCESS_PRIVATE_FOLDER_H_

#include <filesystem>
#include <system_error>

namespace memoir {

// Makes `path` and its missing parents, each accessible only to its owner (0700) with any umask. Existing folders stay
// unchanged.
std::error_code MakePrivateFolders(const std::filesystem::path& path);

// Creates a file in `folder` and removes it; returns the error if this fails. The file's name is unique, because in
// pods that share a folder, processes have equal numbers and start at the same time.
std::error_code TryToWrite(const std::filesystem::path& folder);

}  // namespace memoir

#endif  // TOOLS_CLI_PROCESS_PRIVATE_FOLDER_H_
