#include "tools/read/replaced_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "tools/read/regular_file.h"

namespace memoir {
namespace {

constexpr char kPartial[] = ".partial-";  // followed by the id of the writing process

// Creates and locks the partial file. The lock lasts until the file is closed, and shows that the file is in use. If
// another process removes the file before it is locked, creates another file. Returns -1 and sets errno on failure.
int OpenPartial(const std::string& path) {
  for (;;) {
    // The file has the permissions of a part.
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0) flock(file, LOCK_EX);
    struct stat now;
    if (file < 0 || fstat(file, &now) != 0 || now.st_nlink != 0) return file;
    close(file);
  }
}

// Returns 0, or errno.
int WriteAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

const char* Fix(int error) {
  switch (error) {
    case EISDIR:
    case ENOTDIR:
      return "; a folder has its place, remove that";
    case ENOSPC:
    case EDQUOT:
      return "; make room there";
    case EACCES:
    case EPERM:
    case EROFS:
      return "; copy the capture to where you may write";
    default:
      return "";
  }
}

absl::Status StatusOf(int error, const std::string& path) {
  if (error == 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot write ", path, ": ", std::strerror(error), Fix(error)));
}

}  // namespace

absl::Status ReplaceFile(const std::string& path, std::string_view bytes) {
  const std::string partial = absl::StrCat(path, kPartial, getpid());
  const int file = OpenPartial(partial);
  int error = file < 0 ? errno : 0;
  if (file >= 0) {
    error = WriteAll(file, bytes);
    if (error == 0 && std::rename(partial.c_str(), path.c_str()) != 0) error = errno;
    if (error != 0) unlink(partial.c_str());
    close(file);
  }
  return StatusOf(error, path);
}

absl::Status CreateOrReplaceFile(const std::string& path, std::string_view bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return errno == EEXIST ? ReplaceFile(path, bytes) : StatusOf(errno, path);
  const int error = WriteAll(file, bytes);
  // If another process has written a complete file to `path` meanwhile, that file has another inode and stays.
  struct stat own, now;
  if (error != 0 && fstat(file, &own) == 0 && lstat(path.c_str(), &now) == 0 && own.st_ino == now.st_ino)
    unlink(path.c_str());
  close(file);
  return StatusOf(error, path);
}

void RemovePartial(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string stem = absl::StrCat(file.filename().string(), kPartial);
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!it->path().filename().string().starts_with(stem) || it->is_symlink(error)) continue;
    const absl::StatusOr<RegularFile> partial = RegularFile::Open(it->path());
    if (partial.ok() && flock(partial->descriptor(), LOCK_EX | LOCK_NB) == 0) unlink(it->path().c_str());
  }
}

}  // namespace memoir
