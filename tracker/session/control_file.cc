#include "tracker/session/control_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <string_view>
#include <system_error>

namespace memoir {
namespace {

constexpr std::uint64_t kSteps = 3;  // where no number is given
constexpr std::uint64_t kMostSteps = 1'000'000'000;

// "steps", "steps 5"
Control StepsOf(std::string_view text) {
  constexpr std::string_view kWord = "steps";
  constexpr Control kUnknown{.word = ControlWord::kUnknown};
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

Control ControlOf(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {.word = ControlWord::kToggle};
  text = text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
  if (text == "on" || text == "1") return {.word = ControlWord::kOn};
  if (text == "off" || text == "0") return {.word = ControlWord::kOff};
  if (text == "memory") return {.word = ControlWord::kMemory};
  if (text == "snapshot") return {.word = ControlWord::kSnapshot};
  return StepsOf(text);
}

bool IsAskedOnce(ControlWord word) {
  return word == ControlWord::kToggle || word == ControlWord::kSnapshot || word == ControlWord::kSteps;
}

}  // namespace

ControlFile::Version ControlFile::Now() const {
  struct stat status;
  if (stat(path_.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return {status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

Control ControlFile::Read() const {
  const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return {};
  char text[64];
  const ssize_t size = read(fd, text, sizeof text);
  close(fd);
  return size < 0 ? Control{} : ControlOf({text, static_cast<std::size_t>(size)});
}

Control ControlFile::First() {
  done_ = Now();
  if (done_ == Version{} || done_.size == 0) return {};
  const Control control = Read();
  return IsAskedOnce(control.word) ? Control{} : control;
}

Control ControlFile::Look() {
  const Version now = Now();
  if (now == done_) return {};
  if (now == Version{}) {  // removed: nothing to do, and one that is made anew counts
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
