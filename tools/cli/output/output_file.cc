#include "tools/cli/output/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace memoir {
namespace {

std::string FixFor(int error) {
  switch (error) {
    case ENOENT:
      return "; make its folder first";
    case EISDIR:
      return "; name a file in it";
    case ENOSPC:
    case EDQUOT:
      return "; make room there, or write to another place with -o";
    case EACCES:
    case EPERM:
    case EROFS:
      return "; choose a place where you may write with -o";
    default:
      return "";
  }
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  if (to_stdout()) {
    file_ = stdout;
    return;
  }
  std::error_code error;
  const std::filesystem::file_status there = std::filesystem::status(path_, error);
  if (std::filesystem::is_directory(there)) {
    error_ = EISDIR;
    return;
  }
  // An existing path that is not a regular file (/dev/stdout, a pipe) is not replaced.
  const bool replaced = !std::filesystem::exists(there) || std::filesystem::is_regular_file(there);
  if (replaced) partial_ = path_ + ".partial-" + std::to_string(getpid());
  file_ = std::fopen((replaced ? partial_ : path_).c_str(), replaced ? "wbx" : "wb");
  if (file_ != nullptr) return;
  error_ = errno;
  partial_.clear();
}

OutputFile::~OutputFile() {
  if (file_ != nullptr && !to_stdout()) std::fclose(file_);
  if (!partial_.empty()) unlink(partial_.c_str());
}

void OutputFile::Write(std::string_view bytes) {
  if (error_ != 0) return;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) error_ = errno;
  bytes_ += bytes.size();
}

absl::Status OutputFile::Finish() {
  if (error_ == 0 && std::fflush(file_) != 0) error_ = errno;
  if (error_ == 0 && !to_stdout()) {
    if (std::fclose(std::exchange(file_, nullptr)) != 0) error_ = errno;
  }
  if (error_ == 0 && !partial_.empty()) {
    if (std::rename(partial_.c_str(), path_.c_str()) != 0) error_ = errno;
    if (error_ == 0) partial_.clear();
  }
  return status();
}

absl::Status OutputFile::status() const {
  if (error_ == 0) return absl::OkStatus();
  return absl::UnavailableError("cannot write " + (to_stdout() ? "standard output" : path_) + ": " +
                                std::strerror(error_) + FixFor(error_));
}

}  // namespace memoir
