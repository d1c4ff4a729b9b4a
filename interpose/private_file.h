// Opens files of the recorder's own, in a program that may have closed its standard streams: what the program writes to
// descriptors 0 to 2 must never land in them. Cold path; any thread.
#ifndef INTERPOSE_PRIVATE_FILE_H_
#define INTERPOSE_PRIVATE_FILE_H_

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace memoir {

// As open, closed by exec, and never one of the standard streams.
inline int OpenPrivateFile(const char* path, int flags, mode_t mode = 0) {
  const int fd = open(path, flags | O_CLOEXEC, mode);
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  close(fd);
  errno = error;
  return moved;
}

}  // namespace memoir

#endif  // INTERPOSE_PRIVATE_FILE_H_
