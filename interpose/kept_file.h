// A file that the recorder keeps open for longer than a call, in a program that may close any descriptor, also those
// that it did not open (os.closerange, daemonising), and be given the number for a file of its own. So the number lies
// where few programs reach, and every use asks first whether it still names the file.
//
// Cold path. One thread at a time.
#ifndef INTERPOSE_KEPT_FILE_H_
#define INTERPOSE_KEPT_FILE_H_

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "interpose/private_file.h"

namespace memoir {

struct KeptFile {
  int fd = -1;  // -1: none
  dev_t device = 0;
  ino_t inode = 0;
};

// Below 1,024, so that a program with few descriptors keeps its small table; above what programs close by habit.
inline int LeastKeptNumber() {
  constexpr rlim_t kMost = 1024, kRoom = 64;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return STDERR_FILENO + 1;
  const rlim_t end = std::min(limit.rlim_cur, kMost);
  return end > 2 * kRoom ? static_cast<int>(end - kRoom) : STDERR_FILENO + 1;
}

// Takes an open descriptor over, which gets another number. fd -1 (and the descriptor stays the caller's): its file
// cannot be told.
inline KeptFile KeepFile(int fd) {
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0) return {};
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, LeastKeptNumber());
  if (moved >= 0) close(fd);
  return {moved >= 0 ? moved : fd, status.st_dev, status.st_ino};
}

// As OpenPrivateFile. fd -1 and errno on failure.
inline KeptFile OpenKeptFile(const char* path, int flags) {
  const int fd = OpenPrivateFile(path, flags);
  const KeptFile file = KeepFile(fd);
  if (file.fd < 0 && fd >= 0) {
    const int error = errno;
    close(fd);
    errno = error;
  }
  return file;
}

inline bool IsSameFile(const KeptFile& file, const struct stat& status) {
  return status.st_dev == file.device && status.st_ino == file.inode;
}

// Whether the number still names the file.
inline bool IsKept(const KeptFile& file) {
  struct stat status;
  return file.fd >= 0 && fstat(file.fd, &status) == 0 && IsSameFile(file, status);
}

// Whether `path` names another file by now, or none. Not where that cannot be told (a folder that may not be searched).
inline bool IsGoneFrom(const KeptFile& file, const char* path) {
  struct stat status;
  return lstat(path, &status) == 0 ? !IsSameFile(file, status) : errno == ENOENT || errno == ENOTDIR;
}

// Makes sure of it: where the program has taken the number, opens the same file anew, which has so many bytes: once the
// last descriptor is closed and the file removed, another one may get its inode. False: `path` names it no more, or may
// not be opened (errno); then there is no file to use, and nothing that was the program's has been touched.
inline bool KeepOpen(KeptFile* file, const char* path, int flags, std::uint64_t bytes) {
  if (IsKept(*file)) return true;
  const KeptFile again = OpenKeptFile(path, flags | O_NOFOLLOW | O_NONBLOCK);  // whatever may be there by now
  if (again.fd < 0) return false;
  struct stat status;
  const bool same = fstat(again.fd, &status) == 0 && IsSameFile(*file, status);
  if (same && static_cast<std::uint64_t>(status.st_size) == bytes) {
    *file = again;
    return true;
  }
  close(again.fd);
  errno = ESTALE;
  return false;
}

// As close, and none is kept afterwards. What the program has put in its place stays open.
inline int CloseKeptFile(KeptFile* file) {
  const bool is_ours = IsKept(*file);
  const int fd = file->fd;
  *file = {};
  return is_ours ? close(fd) : 0;
}

}  // namespace memoir

#endif  // INTERPOSE_KEPT_FILE_H_
