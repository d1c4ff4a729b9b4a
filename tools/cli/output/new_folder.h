// The folder for an export of several files. The folder is created if it does not exist. If not all files can be
// written, all files are removed.
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
  ~NewFolder();  // without Keep(), removes its files, and the folder if it was created
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  // Creates the folder if it does not exist. The error names cause and fix: the path is a file, the folder is not empty
  // or cannot be created.
  absl::Status Prepare();
  // Makes the destructor remove nothing. Call it when all files are complete.
  void Keep() { is_kept_ = true; }
  // Returns the path of a file of this name in the folder. Creates the folders that `name` contains
  // ("blocks/rank=0/blocks.parquet"). If a folder cannot be created, the caller's attempt to open the file fails with
  // the reason.
  std::string File(const std::string& name);

 private:
  std::string path_;
  std::vector<std::filesystem::path> files_;
  std::vector<std::filesystem::path> folders_;  // folders that were created inside, outer ones first
  bool is_made_ = false;
  bool is_kept_ = false;
};

}  // namespace memoir

#endif  // TOOLS_CLI_OUTPUT_NEW_FOLDER_H_
