#include "tools/cli/arguments/option_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

#include "tools/analyze/pass/window/selection.h"

namespace memoir {

std::optional<std::uint64_t> ParseDigits(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool IsSteps(std::string_view text) { return ParseStepsWindow(text).has_value(); }

bool IsSchedule(std::string_view text) {
  constexpr std::array<std::string_view, 5> kFields = {"skip_first", "wait", "warmup", "active", "repeat"};
  std::uint64_t active = 0;
  while (!text.empty()) {
    const std::string_view field = text.substr(0, text.find(','));
    text.remove_prefix(std::min(field.size() + 1, text.size()));
    const std::size_t equals = field.find('=');
    if (equals == std::string_view::npos) return false;
    const auto number = ParseDigits(field.substr(equals + 1));
    if (std::ranges::find(kFields, field.substr(0, equals)) == kFields.end() || !number || *number > 1'000'000'000)
      return false;
    if (field.starts_with("active=")) active = *number;
  }
  return active > 0;
}

bool IsSnapshots(std::string_view text) {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    if (word != "oom" && word != "exception" && word != "exit") return false;
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return true;
}

bool IsSignal(std::string_view text) {
  constexpr std::array<std::string_view, 12> kNames = {"HUP",   "INT", "QUIT", "TERM", "USR1", "USR2",
                                                       "WINCH", "URG", "CONT", "PROF", "ALRM", "IO"};
  // Signals that are not accepted: SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGSEGV, SIGCHLD, SIGSTOP.
  constexpr std::array<std::uint64_t, 9> kNot = {4, 5, 6, 7, 8, 9, 11, 17, 19};
  if (const auto number = ParseDigits(text)) {
    return *number >= 1 && *number <= 64 && std::ranges::find(kNot, *number) == kNot.end();
  }
  if (text.starts_with("SIG")) text.remove_prefix(3);
  return std::ranges::find(kNames, text) != kNames.end();
}

}  // namespace memoir
