#include "tracker/session/control/control_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

#include "interpose/system/own_files.h"

namespace memoir {
namespace {

constexpr std::uint64_t kSteps = 3;  // number of steps if the file has no number
constexpr std::uint64_t kMostSteps = 1'000'000'000;

// Parses "steps" or "steps 5".
ControlRequest StepsOf(std::string_view text) {
  constexpr std::string_view kWord = "steps";
  constexpr ControlRequest kUnknown{.word = ControlWord::kUnknown};
  if (!text.starts_with(kWord)) return kUnknown;
  text.remove_prefix(kWord.size());
  if (text.empty()) return {.word = ControlWord::kSteps, .steps = kSteps};
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == 0 || begin == std::string_view::npos) return kUnknown;
  std::uint64_t steps = 0;
  const auto [end, failed] = std::from_chars(text.data() + begin, text.data() + text.size(), steps);
  const bool is_number = failed == std::errc{} && end == text.data() + text.size();
  if (!is_number || steps == 0 || steps > kMostSteps) return kUnknown;
  return {.word = ControlWord::kSteps, .steps = steps};
}

ControlRequest ParseControl(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {.word = ControlWord::kToggle};
  text = text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
  if (text == "on" || text == "1") return {.word = ControlWord::kOn};
  if (text == "off" || text == "0") return {.word = ControlWord::kOff};
  if (text == "memory") return {.word = ControlWord::kMemory};
  if (text == "snapshot") return {.word = ControlWord::kSnapshot};
  return StepsOf(text);
}

bool ActsOnce(ControlWord word) {
  return word == ControlWord::kToggle || word == ControlWord::kSnapshot || word == ControlWord::kSteps;
}

// Returns true if another user may have written the file. If the file's group has the same number as its owner, the
// group is assumed to contain only the owner. If others may not enter the folder, the file's mode does not matter.
bool OthersMayWrite(const struct stat& file, const struct stat& folder) {
  const bool by_group = (file.st_mode & S_IWGRP) != 0 && (folder.st_mode & S_IXGRP) != 0 && file.st_gid != file.st_uid;
  const bool by_all = (file.st_mode & S_IWOTH) != 0 && (folder.st_mode & S_IXOTH) != 0;
  return by_group || by_all;
}

std::string OwnedBy(const char* what, const struct stat& file) {
  return std::string(what) + " belongs to another user (uid " + std::to_string(file.st_uid) + ")";
}

}  // namespace

bool IsOfAnotherUser(const struct stat& file) { return file.st_uid != 0 && file.st_uid != geteuid(); }

std::string ControlFile::WhyNotObeyed(const struct stat& file) const {
  const std::size_t slash = path_.rfind('/');
  const std::string folder_path = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  struct stat name, folder;
  if (lstat(path_.c_str(), &name) != 0 || stat(folder_path.c_str(), &folder) != 0) return "its folder cannot be read";
  if (IsOfAnotherUser(folder)) return OwnedBy("its folder", folder);
  if (IsOfAnotherUser(name)) return OwnedBy("it", name);
  if (IsOfAnotherUser(file)) return OwnedBy("it", file);
  return OthersMayWrite(file, folder) ? "other users may write it: chmod go-w, then write it again" : "";
}

std::string ControlFile::TakeRefusal() {
  std::string refusal = std::exchange(refusal_, "");
  if (refusal.empty() || refusal == last_refusal_) return "";
  last_refusal_ = refusal;
  return path_ + " is not obeyed: " + refusal;
}

ControlFile::Version ControlFile::CurrentVersion() const {
  struct stat status;
  if (stat(path_.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return {status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

ControlRequest ControlFile::Read() {
  struct stat file;
  char text[64];
  ssize_t size = -1;
  InOwnFiles([&] {
    const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return;
    if (fstat(fd, &file) == 0) size = read(fd, text, sizeof text);
    close(fd);
  });
  if (size < 0) return {};
  refusal_ = WhyNotObeyed(file);
  return refusal_.empty() ? ParseControl({text, static_cast<std::size_t>(size)}) : ControlRequest{};
}

ControlRequest ControlFile::ReadFirst() {
  done_ = CurrentVersion();
  if (done_ == Version{} || done_.size == 0) return {};
  const ControlRequest control = Read();
  return ActsOnce(control.word) ? ControlRequest{} : control;
}

ControlRequest ControlFile::Look() {
  const Version now = CurrentVersion();
  if (now == done_) return {};
  if (now == Version{}) {  // the file was removed; if it is created again, Look reads the new file
    done_ = now;
    return {};
  }
  if (now.size == 0 && now != empty_) {
    empty_ = now;
    return {};
  }
  done_ = now;
  return Read();
}

}  // namespace memoir
