// Recognises files of other programs, and converts them to captures (docs/imports.md).
//
// Any thread. The files are not trusted: nothing in them is executed, and every error message is one line with the
// path.
#ifndef TOOLS_IMPORT_FOREIGN_FILE_H_
#define TOOLS_IMPORT_FOREIGN_FILE_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace memoir {

// Returns true if the first bytes belong to a file of these programs, or to a similar file for which conversion reports
// a specific error. False if the file cannot be read or is not a regular file.
bool IsForeignFile(const std::string& path);

// Converts the file. `write` receives the bytes of the capture's only part, in order.
absl::Status ConvertForeignFile(const std::string& path, const std::function<absl::Status(std::string_view)>& write);

// A converted capture in a nameless file in $TMPDIR or /tmp. The file disappears with the last reference to it, and
// when the process ends in any way.
class ConvertedFile {
 public:
  static absl::StatusOr<std::shared_ptr<const ConvertedFile>> Convert(const std::string& path);
  ~ConvertedFile();
  ConvertedFile(const ConvertedFile&) = delete;
  ConvertedFile& operator=(const ConvertedFile&) = delete;
  std::string path() const;  // valid in this process only

 private:
  explicit ConvertedFile(int descriptor) : descriptor_(descriptor) {}
  const int descriptor_;
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_FOREIGN_FILE_H_
