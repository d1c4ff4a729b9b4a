// The file that a report or an export goes to: written beside its place under another name and moved there when it is
// whole, so that a full disk leaves no half file and no file of before is lost.
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
  // "-", "": standard output.
  explicit OutputFile(std::string path);
  ~OutputFile();  // of a file that was not finished nothing stays
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void Write(std::string_view bytes);
  absl::Status Finish();        // the error says what to do
  absl::Status status() const;  // likewise, so far

  const std::string& path() const { return path_; }
  // Where the bytes are until Finish(), for who writes them with a library of its own. path(): it is not replaced.
  const std::string& written_to() const { return partial_.empty() ? path_ : partial_; }
  bool to_stdout() const { return path_.empty() || path_ == "-"; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  const std::string path_;
  std::string partial_;  // "": what is written goes to its place at once (a pipe, a device)
  std::FILE* file_ = nullptr;
  std::uint64_t bytes_ = 0;
  int error_ = 0;  // errno of the first call that failed
};

}  // namespace memoir

#endif  // TOOLS_CLI_OUTPUT_OUTPUT_FILE_H_
