// Opens a file only if it is a regular file. A pipe at its place would block open(), a device might never end, and a
// folder can be opened but not read.
#ifndef TOOLS_READ_REGULAR_FILE_H_
#define TOOLS_READ_REGULAR_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace memoir {

// An open regular file; closed by the destructor.
class RegularFile {
 public:
  // NotFound if the file does not exist. FailedPrecondition if it is not a regular file. PermissionDenied for all other
  // errors. The messages contain the cause without the path.
  static absl::StatusOr<RegularFile> Open(const std::string& path);
  RegularFile(RegularFile&& other) noexcept;
  RegularFile& operator=(RegularFile&& other) noexcept;
  ~RegularFile();

  int descriptor() const { return descriptor_; }
  std::uint64_t bytes() const { return bytes_; }  // size when the file was opened
  // Returns the descriptor, which the caller must close.
  int Release();
  // Returns the first `most` bytes, or all bytes of a shorter file. DataLoss: the file cannot be read.
  absl::StatusOr<std::string> Read(std::uint64_t most) const;

 private:
  RegularFile(int descriptor, std::uint64_t bytes) : descriptor_(descriptor), bytes_(bytes) {}
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_READ_REGULAR_FILE_H_
