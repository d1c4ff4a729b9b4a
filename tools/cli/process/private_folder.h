// Folders for captures: they hold names of programs, modules and files, so other users have no business there.
#ifndef TOOLS_CLI_PROCESS_PRIVATE_FOLDER_H_
#define TOOLS_CLI_PROCESS_PRIVATE_FOLDER_H_

#include <filesystem>
#include <system_error>

namespace memoir {

// Makes `path` and the folders above it that are missing, each for its owner alone (0700) whatever the umask. What is
// there already stays as it is.
std::error_code MakePrivateFolders(const std::filesystem::path& path);

// Makes a file in `folder` and removes it again: what is in the way of that, if anything. Its name is no other
// process's: pods that share a folder have the same process numbers, and start at the same moment.
std::error_code TryToWrite(const std::filesystem::path& folder);

}  // namespace memoir

#endif  // TOOLS_CLI_PROCESS_PRIVATE_FOLDER_H_
