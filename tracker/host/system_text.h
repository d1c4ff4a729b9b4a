// Reads text files of /proc and /sys, whose size is known only after they are read.
#ifndef TRACKER_HOST_SYSTEM_TEXT_H_
#define TRACKER_HOST_SYSTEM_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace memoir {

// Returns the text of a file, at most its first 1 MiB; "" if it cannot be read.
std::string ReadSystemText(const std::string& path);
// Returns the number at the beginning of `text`, after spaces; kNotKnown (all ones) if there is no number.
std::uint64_t NumberOf(std::string_view text);
// Returns the number after `key` ("VmRSS:", "oom_kill ") at the beginning of a line; kNotKnown if no line begins with
// `key`.
std::uint64_t NumberAfter(std::string_view text, std::string_view key);
// Like NumberAfter, for files with numbers in kB. Returns bytes.
std::uint64_t BytesAfter(std::string_view text, std::string_view key);

}  // namespace memoir

#endif  // TRACKER_HOST_SYSTEM_TEXT_H_
