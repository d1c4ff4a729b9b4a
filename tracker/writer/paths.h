// Paths, without std::filesystem: some of torch's wheels show their own copy of it, others leave it to the system's
// libstdc++, and RHEL 8's has none. Any thread.
#ifndef TRACKER_WRITER_PATHS_H_
#define TRACKER_WRITER_PATHS_H_

#include <string>

namespace memoir {

// The program may change its folder; who reads the ring after its end is in another one. As it is where this process
// has no folder.
std::string AbsolutePath(const std::string& path);

// Also of a link to one.
bool IsFolder(const std::string& path);

}  // namespace memoir

#endif  // TRACKER_WRITER_PATHS_H_
