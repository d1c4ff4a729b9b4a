// The folder for an export of several files. It is created if it does not exist. Without all of the files, none of them
// stays.
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

  // The error names cause and fix: it is a file, it is not empty, it cannot be created.
  absl::Status Prepare();
  void Keep() { is_kept_ = true; }
  // Returns the path of a file of this name in it. Creates folders in the name ("blocks/rank=0/blocks.parquet"). If
  // this fails, opening the file fails with the reason.
  std::string File(const std::string& name);

 private:
  std::string path_;
  std::vector<std::filesystem::path> files_;
  std::vector<std::filesystem::path> folders_;  // folders created in it, outer ones first
  bool is_made_ = false;
  bool is_kept_ = false;
};

}  // namespace memoir

#endif  // TOOLS_CLI_OUTPUT_NEW_FOLDER_H_
