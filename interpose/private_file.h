// Opens files of the recorder's own, in a program that may have closed its standard streams: what the program writes to
// descriptors 0 to 2 must never land in them. What it makes is for its owner alone, whatever the umask: a capture tells
// what a program is and does. Cold path; any thread.
#ifndef INTERPOSE_PRIVATE_FILE_H_
#define INTERPOSE_PRIVATE_FILE_H_

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace memoir {

inline constexpr mode_t kPrivateFile = 0600, kPrivateFolder = 0700;

// As open, closed by exec, and never one of the standard streams. A new file gets kPrivateFile; `flags` with O_CREAT
// have O_EXCL too.
inline int OpenPrivateFile(const char* path, int flags) {
  const int fd = open(path, flags | O_CLOEXEC, kPrivateFile);
  if (fd >= 0 && (flags & O_CREAT) != 0) fchmod(fd, kPrivateFile);  // what the umask took away; not everywhere needed
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  close(fd);
  errno = error;
  return moved;
}

// As mkdir, with kPrivateFolder.
inline bool MakePrivateFolder(const char* path) {
  if (mkdir(path, kPrivateFolder) != 0) return false;
  struct stat status;
  const bool known = stat(path, &status) == 0;
  if (known && (status.st_mode & kPrivateFolder) != kPrivateFolder) chmod(path, status.st_mode | kPrivateFolder);
  return true;
}

}  // namespace memoir

#endif  // INTERPOSE_PRIVATE_FILE_H_
