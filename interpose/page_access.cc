#include "interpose/page_access.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace memoir {
namespace {

// Takes /proc/self/maps letter by letter: "BEGIN-END rwxp ...", the lowest address first.
class MapsReader {
 public:
  explicit MapsReader(std::uintptr_t wanted) : wanted_(wanted) {}

  // False once the line of `wanted` has been read.
  bool Take(char letter) {
    if (letter == '\n') {
      begin_ = end_ = 0;
      field_ = Field::kBegin;
    } else if (field_ == Field::kBegin) {
      if (letter == '-')
        field_ = Field::kEnd;
      else
        begin_ = begin_ * 16 + Digit(letter);
    } else if (field_ == Field::kEnd) {
      if (letter == ' ')
        field_ = Field::kRead;
      else
        end_ = end_ * 16 + Digit(letter);
    } else if (field_ == Field::kRead) {
      field_ = Field::kWrite;
    } else if (field_ == Field::kWrite) {
      field_ = Field::kRest;
      const bool here = wanted_ >= begin_ && wanted_ < end_;
      writable_ = here && letter == 'w';
      return !here;
    }
    return true;
  }
  bool writable() const { return writable_; }

 private:
  enum class Field { kBegin, kEnd, kRead, kWrite, kRest };
  static std::uintptr_t Digit(char letter) {
    return static_cast<std::uintptr_t>(letter <= '9' ? letter - '0' : letter - 'a' + 10);
  }

  const std::uintptr_t wanted_;
  std::uintptr_t begin_ = 0, end_ = 0;
  Field field_ = Field::kBegin;
  bool writable_ = false;
};

bool IsWritableByMaps(int maps, std::uintptr_t address) {
  MapsReader reader(address);
  char buffer[4096];
  for (;;) {
    const ssize_t bytes = read(maps, buffer, sizeof buffer);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return false;
    for (ssize_t i = 0; i < bytes; ++i) {
      if (!reader.Take(buffer[i])) return reader.writable();
    }
  }
}

}  // namespace

bool IsWritable(std::uintptr_t address) {
  const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return false;
  const bool writable = IsWritableByMaps(maps, address);
  close(maps);
  return writable;
}

}  // namespace memoir
