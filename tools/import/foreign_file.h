// Files of other programs that open as captures: which they are, and their conversion (docs/imports.md).
//
// Any thread. The files are untrusted: nothing of them is executed, and every error is one line with the path.
#ifndef TOOLS_IMPORT_FOREIGN_FILE_H_
#define TOOLS_IMPORT_FOREIGN_FILE_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace memoir {

// By its first bytes whether it is a file of one of these programs, or of one that people take for them. Not what is no
// regular file, or cannot be read.
bool IsForeignFile(const std::string& path);

// Converts it: `write` gets the bytes of a capture's one part, in order.
absl::Status ConvertForeignFile(const std::string& path, const std::function<absl::Status(std::string_view)>& write);

// Converted into a file without a name, in $TMPDIR or /tmp, which is gone with the last of those that hold it, and with
// the process, however that ends.
class ConvertedFile {
 public:
  static absl::StatusOr<std::shared_ptr<const ConvertedFile>> Convert(const std::string& path);
  ~ConvertedFile();
  ConvertedFile(const ConvertedFile&) = delete;
  ConvertedFile& operator=(const ConvertedFile&) = delete;
  std::string path() const;  // for this process

 private:
  explicit ConvertedFile(int descriptor) : descriptor_(descriptor) {}
  const int descriptor_;
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_FOREIGN_FILE_H_
