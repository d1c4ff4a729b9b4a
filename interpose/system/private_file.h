// Opens Memoir's own files. They get no descriptors from 0 to 2, because some programs close these descriptors and
// still write to them. New files are readable only by their owner, whatever the umask, because a capture describes the
// program and its data. Call these functions only on cold paths, and in a recorded program only inside RunInOwnFiles
// (own_files.h).
#ifndef INTERPOSE_SYSTEM_PRIVATE_FILE_H_
#define INTERPOSE_SYSTEM_PRIVATE_FILE_H_

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "interpose/system/own_files.h"

namespace memoir {

inline constexpr mode_t kPrivateFile = 0600, kPrivateFolder = 0700;

// Opens like open(2); exec closes the file. Never returns 0 to 2, unless Memoir's table has no other number left. A new
// file gets the mode kPrivateFile. Pass O_EXCL with O_CREAT, because an existing file would also get this mode.
inline int OpenPrivateFile(const char* path, int flags) {
  const int fd = open(path, flags | O_CLOEXEC, kPrivateFile);
  if (fd >= 0 && (flags & O_CREAT) != 0) fchmod(fd, kPrivateFile);  // restores bits that the umask removed
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (moved < 0 && OwnFilesMode() != FilesWay::kShared) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return moved;
}

// Like OpenPrivateFile, for a file that stays open. If Memoir shares the program's table of descriptors, the file gets
// the first free number from N - 64 on, where N is the limit of descriptors or 1,024, whichever is less. If N is at
// most 128, or if no such number is free, the file keeps the number from OpenPrivateFile. The number is high because
// programs close low numbers by habit. It is not higher because the kernel's table grows with the highest number.
inline int OpenLastingFile(const char* path, int flags) {
  constexpr rlim_t kMost = 1024, kRoom = 64;
  const int fd = OpenPrivateFile(path, flags);
  rlimit limit{};
  if (fd < 0 || OwnFilesMode() != FilesWay::kShared || getrlimit(RLIMIT_NOFILE, &limit) != 0) return fd;
  const rlim_t end = std::min(limit.rlim_cur, kMost);
  const int moved = end > 2 * kRoom ? fcntl(fd, F_DUPFD_CLOEXEC, static_cast<int>(end - kRoom)) : -1;
  if (moved < 0) return fd;
  close(fd);
  return moved;
}

// Returns true if `path` names another file than the file of `fd`, or no file at all. False if this cannot be
// determined.
inline bool IsGoneFrom(int fd, const char* path) {
  struct stat open, there;
  if (lstat(path, &there) != 0) return errno == ENOENT || errno == ENOTDIR;
  return fstat(fd, &open) == 0 && (open.st_dev != there.st_dev || open.st_ino != there.st_ino);
}

// Like mkdir(2), with the mode kPrivateFolder.
inline bool MakePrivateFolder(const char* path) {
  if (mkdir(path, kPrivateFolder) != 0) return false;
  struct stat status;
  const bool known = stat(path, &status) == 0;
  if (known && (status.st_mode & kPrivateFolder) != kPrivateFolder) chmod(path, status.st_mode | kPrivateFolder);
  return true;
}

}  // namespace memoir

#endif  // INTERPOSE_SYSTEM_PRIVATE_FILE_H_
