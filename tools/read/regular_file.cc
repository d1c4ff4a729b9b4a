#include "tools/read/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/status/status.h"

namespace memoir {

absl::StatusOr<RegularFile> RegularFile::Open(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return absl::NotFoundError("no such file");
    if (errno == ENXIO) return absl::FailedPreconditionError("not a regular file");  // a socket
    return absl::PermissionDeniedError(std::strerror(errno));
  }
  RegularFile file(descriptor, 0);
  struct stat status;
  if (fstat(descriptor, &status) != 0) return absl::PermissionDeniedError(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return absl::FailedPreconditionError("not a regular file");
  file.bytes_ = static_cast<std::uint64_t>(status.st_size);
  return file;
}

RegularFile::RegularFile(RegularFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), bytes_(other.bytes_) {}

RegularFile& RegularFile::operator=(RegularFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

RegularFile::~RegularFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

int RegularFile::Release() { return std::exchange(descriptor_, -1); }

absl::StatusOr<std::string> RegularFile::Read(std::uint64_t most) const {
  std::string bytes(static_cast<std::size_t>(std::min(bytes_, most)), '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t more = pread(descriptor_, bytes.data() + got, bytes.size() - got, static_cast<off_t>(got));
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return absl::DataLossError(std::strerror(errno));
    if (more == 0) break;  // the file became shorter
    got += static_cast<std::size_t>(more);
  }
  bytes.resize(got);
  return bytes;
}

}  // namespace memoir
