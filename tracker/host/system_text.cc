#include "tracker/host/system_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "interpose/records/ring_record.h"

namespace memoir {

std::string ReadSystemText(const std::string& path) {
  constexpr std::size_t kMost = 1u << 20;
  std::string text;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return text;
  char buffer[8192];
  ssize_t got = 0;
  while (text.size() < kMost) {
    got = read(file, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  close(file);
  return text;
}

std::uint64_t NumberOf(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return kNotKnown;
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data() + begin, text.data() + text.size(), number);
  return parsed.ec == std::errc() ? number : kNotKnown;
}

std::uint64_t NumberAfter(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    if (line.substr(0, key.size()) == key) return NumberOf(line.substr(key.size()));
    at += line.size() + 1;
  }
  return kNotKnown;
}

std::uint64_t BytesAfter(std::string_view text, std::string_view key) {
  const std::uint64_t kibibytes = NumberAfter(text, key);
  return kibibytes > kNotKnown / 1024 ? kNotKnown : kibibytes * 1024;
}

}  // namespace memoir
