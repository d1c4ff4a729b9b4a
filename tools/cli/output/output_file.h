// The file of a report or an export. It is written under a temporary name in the same folder, and renamed when it is
// complete. So a full disk leaves no incomplete file, and the previous file survives.
#ifndef TOOLS_CLI_OUTPUT_OUTPUT_FILE_H_
#define TOOLS_CLI_OUTPUT_OUTPUT_FILE_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace memoir {

class OutputFile {
 public:
  // `path`: "-" and "" are standard output.
  explicit OutputFile(std::string path);
  ~OutputFile();  // removes an unfinished file
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void Write(std::string_view bytes);
  absl::Status Finish();        // the error names the remedy
  absl::Status status() const;  // the status so far

  const std::string& path() const { return path_; }
  // The path to which bytes are written until Finish(), for libraries that write files. Equal to path() if bytes are
  // written directly to the file.
  const std::string& written_to() const { return partial_.empty() ? path_ : partial_; }
  bool to_stdout() const { return path_.empty() || path_ == "-"; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  const std::string path_;
  std::string partial_;  // "": the bytes are written directly to `path` (a pipe, a device)
  std::FILE* file_ = nullptr;
  std::uint64_t bytes_ = 0;
  int error_ = 0;  // errno of the first call that failed
};

}  // namespace memoir

#endif  // TOOLS_CLI_OUTPUT_OUTPUT_FILE_H_
