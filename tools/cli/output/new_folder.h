// The folder that an export of several files goes to: made where it is not there, and nothing stays in it unless all
// does.
#ifndef TOOLS_CLI_OUTPUT_NEW_FOLDER_H_
#define TOOLS_CLI_OUTPUT_NEW_FOLDER_H_

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace memoir {

class NewFolder {
 public:
  explicit NewFolder(std::string path) : path_(std::move(path)) {}
  ~NewFolder();  // without Keep, its files are taken away, and it too where it was not there
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  // The error says cause and fix: it is a file, it is not empty, it cannot be made.
  absl::Status Prepare();
  void Keep() { is_kept_ = true; }
  // The path of a file of this name in it. Folders in the name ("blocks/rank=0/blocks.parquet") are made; where one
  // cannot be, who opens the file learns why.
  std::string File(const std::string& name);

 private:
  std::string path_;
  std::vector<std::filesystem::path> files_;
  std::vector<std::filesystem::path> folders_;  // that were made in it, the outer before the inner
  bool is_made_ = false;
  bool is_kept_ = false;
};

}  // namespace memoir

#endif  // TOOLS_CLI_OUTPUT_NEW_FOLDER_H_
