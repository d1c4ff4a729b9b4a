#include "tools/cli/output/new_folder.h"

#include <cstddef>
#include <system_error>

namespace memoir {
namespace {

absl::Status FolderError(const std::string& path, const std::string& why) {
  return absl::UnavailableError("cannot write into " + path + ": " + why);
}

}  // namespace

absl::Status NewFolder::Prepare() {
  std::error_code error;
  const std::filesystem::file_status there = std::filesystem::status(path_, error);
  if (std::filesystem::is_directory(there)) {
    const bool is_empty = std::filesystem::is_empty(path_, error);
    if (error) return FolderError(path_, error.message());
    if (!is_empty) return FolderError(path_, "it is not empty; remove it first, or name another folder with -o");
    return absl::OkStatus();
  }
  if (std::filesystem::exists(there)) return FolderError(path_, "it is a file; name a folder with -o");
  if (!std::filesystem::create_directory(path_, error)) {
    const bool is_missing = error == std::errc::no_such_file_or_directory;
    return FolderError(path_, error.message() + (is_missing ? "; make the folder above it first" : ""));
  }
  is_made_ = true;
  return absl::OkStatus();
}

std::string NewFolder::File(const std::string& name) {
  std::error_code error;
  for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
    const std::filesystem::path folder = std::filesystem::path(path_) / name.substr(0, slash);
    if (std::filesystem::create_directory(folder, error)) folders_.push_back(folder);
  }
  return files_.emplace_back(std::filesystem::path(path_) / name).string();
}

NewFolder::~NewFolder() {
  if (is_kept_) return;
  std::error_code ignored;
  for (const std::filesystem::path& file : files_) std::filesystem::remove(file, ignored);
  for (auto folder = folders_.rbegin(); folder != folders_.rend(); ++folder) std::filesystem::remove(*folder, ignored);
  if (is_made_) std::filesystem::remove(path_, ignored);
}

}  // namespace memoir
