#include "tools/cli/live/follow_mark.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace memoir {

namespace {

std::string OperatorKeyOf(const std::filesystem::path& capture) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(capture, error);
  return ((is_folder ? capture : capture.parent_path()) / ".followed").string();
}

}  // namespace

FollowedFile::FollowedFile(const std::string& capture) : path_(OperatorKeyOf(capture)) {}

FollowedFile::~FollowedFile() {
  if (touched_) unlink(path_.c_str());
}

void FollowedFile::Touch() {
  const auto now = std::chrono::steady_clock::now();
  if (touched_ && now - last_ < std::chrono::seconds(1)) return;
  const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (file < 0) return;
  struct stat status;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0 && status.st_nlink == 1) {
    touched_ = true;
    last_ = now;
    futimens(file, nullptr);
  }
  close(file);
}

}  // namespace memoir
