// Opens a file that somebody may have replaced by something else: a pipe would keep open() waiting, a device would
// never end, and a folder can be opened but not read.
#ifndef TOOLS_READ_REGULAR_FILE_H_
#define TOOLS_READ_REGULAR_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace memoir {

// Of an open file; closes it.
class RegularFile {
 public:
  // NotFound: there is none. FailedPrecondition: it is not a regular file. PermissionDenied: all else. The messages are
  // the cause alone, without the path.
  static absl::StatusOr<RegularFile> Open(const std::string& path);
  RegularFile(RegularFile&& other) noexcept;
  RegularFile& operator=(RegularFile&& other) noexcept;
  ~RegularFile();

  int descriptor() const { return descriptor_; }
  std::uint64_t bytes() const { return bytes_; }  // when it was opened
  // The descriptor, which the caller closes from here on.
  int Release();
  // The first `most` bytes, or all there are. DataLoss: it cannot be read.
  absl::StatusOr<std::string> Read(std::uint64_t most) const;

 private:
  RegularFile(int descriptor, std::uint64_t bytes) : descriptor_(descriptor), bytes_(bytes) {}
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_READ_REGULAR_FILE_H_
