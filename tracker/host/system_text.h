// Text files of /proc and /sys, which have no length before they are read.
#ifndef TRACKER_HOST_SYSTEM_TEXT_H_
#define TRACKER_HOST_SYSTEM_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace memoir {

// "" where it cannot be read. Of files of more than 1 MiB the beginning.
std::string ReadSystemText(const std::string& path);
// The number at the beginning of `text`, behind spaces; kNotKnown (all ones) where there is none.
std::uint64_t NumberOf(std::string_view text);
// That behind `key` where it begins a line: of "VmRSS:" or "oom_kill ". kNotKnown: no line has it.
std::uint64_t NumberBehind(std::string_view text, std::string_view key);
// Of files that say kB.
std::uint64_t BytesBehind(std::string_view text, std::string_view key);

}  // namespace memoir

#endif  // TRACKER_HOST_SYSTEM_TEXT_H_
