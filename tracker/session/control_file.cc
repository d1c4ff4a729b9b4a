#include "tracker/session/control_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <string_view>

namespace memoir {
namespace {

ControlWord WordOf(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return ControlWord::kToggle;
  text = text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
  if (text == "on" || text == "1") return ControlWord::kOn;
  if (text == "off" || text == "0") return ControlWord::kOff;
  if (text == "memory") return ControlWord::kMemory;
  if (text == "snapshot") return ControlWord::kSnapshot;
  return ControlWord::kUnknown;
}

}  // namespace

ControlFile::Version ControlFile::Now() const {
  struct stat status;
  if (stat(path_.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return {status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

ControlWord ControlFile::Read() const {
  const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return ControlWord::kNone;
  char text[64];
  const ssize_t size = read(fd, text, sizeof text);
  close(fd);
  return size < 0 ? ControlWord::kNone : WordOf({text, static_cast<std::size_t>(size)});
}

ControlWord ControlFile::First() {
  done_ = Now();
  if (done_ == Version{} || done_.size == 0) return ControlWord::kNone;
  const ControlWord word = Read();
  return word == ControlWord::kToggle || word == ControlWord::kSnapshot ? ControlWord::kNone : word;
}

ControlWord ControlFile::Look() {
  const Version now = Now();
  if (now == done_) return ControlWord::kNone;
  if (now == Version{}) {  // removed: nothing to do, and one that is made anew counts
    done_ = now;
    return ControlWord::kNone;
  }
  if (now.size == 0 && now != empty_) {
    empty_ = now;
    return ControlWord::kNone;
  }
  done_ = now;
  return Read();
}

}  // namespace memoir
