// Functions for paths, without std::filesystem: some of torch's wheels export their own copy of std::filesystem, and
// others use the system's libstdc++, which on RHEL 8 does not contain std::filesystem. Any thread.
#ifndef TRACKER_WRITER_FILE_FOLDER_PATHS_H_
#define TRACKER_WRITER_FILE_FOLDER_PATHS_H_

#include <string>

namespace memoir {

// Returns the absolute path of `path`. This path stays valid if the program changes its working folder, and is also
// valid in memoir-drain, which may run in another folder. Returns `path` unchanged if this process has no working
// folder.
std::string AbsolutePath(const std::string& path);

// Returns true for a folder, or a link to a folder.
bool IsFolder(const std::string& path);

}  // namespace memoir

#endif  // TRACKER_WRITER_FILE_FOLDER_PATHS_H_
