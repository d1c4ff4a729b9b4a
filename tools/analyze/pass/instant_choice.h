// The instant at which live memory is shown: the value of `--at`.
#ifndef TOOLS_ANALYZE_PASS_INSTANT_CHOICE_H_
#define TOOLS_ANALYZE_PASS_INSTANT_CHOICE_H_

#include <cstdint>
#include <optional>
#include <string>

namespace memoir {

struct InstantChoice {
  enum class Kind : std::uint8_t { kPeak, kEnd, kTime, kMark, kOutOfMemory, kStart };
  Kind kind = Kind::kPeak;
  std::uint64_t ns = 0;  // for kTime: time since the start of the capture
  std::string mark;      // for kMark: a name; the instant is the first mark with this name in each process
};
// Parses "peak", "end", "oom" (the last out-of-memory error of each device), "mark:NAME", or a time such as "1.5s",
// "20ms", "300us" or "1234ns". A number without a unit is in seconds. kStart, the first device sample
// (accounting/balance.h), cannot be written as text.
std::optional<InstantChoice> ParseInstantChoice(const std::string& text);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_INSTANT_CHOICE_H_
