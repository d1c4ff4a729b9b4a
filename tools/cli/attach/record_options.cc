#include "tools/cli/attach/record_options.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "proto/memoir/byte_size.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/option_values.h"
#include "tools/cli/terminal/nearest.h"

namespace memoir {
namespace {

constexpr OptionKind kPath = OptionKind::kPath;
constexpr OptionKind kSize = OptionKind::kSize;
constexpr OptionKind kFlag = OptionKind::kFlag;
constexpr OptionKind kNumber = OptionKind::kNumber;
constexpr OptionKind kText = OptionKind::kText;
constexpr OptionKind kBound = OptionKind::kBound;
constexpr OptionKind kAddresses = OptionKind::kAddresses;
constexpr OptionKind kOperators = OptionKind::kOperators;
constexpr OptionKind kStacks = OptionKind::kStacks;
constexpr OptionKind kPublication = OptionKind::kPublication;
constexpr OptionKind kKernels = OptionKind::kKernels;
constexpr OptionKind kSnapshots = OptionKind::kSnapshots;
constexpr OptionKind kSteps = OptionKind::kSteps;
constexpr OptionKind kSchedule = OptionKind::kSchedule;
constexpr OptionKind kLevel = OptionKind::kLevel;
constexpr OptionKind kDetail = OptionKind::kDetail;
constexpr OptionKind kSignal = OptionKind::kSignal;
constexpr OptionKind kSwitch = OptionKind::kSwitch;

constexpr RecordOption kOptions[] = {
#define MEMOIR_OPTION(variable, flag, argument, kind, fallback, help) {variable, flag, kind, fallback, help},
#include "proto/memoir/options.def"
#undef MEMOIR_OPTION
};

std::optional<bool> ParseFlag(std::string_view text) {
  for (std::string_view yes : {"1", "true", "on", "yes"}) {
    if (text == yes) return true;
  }
  for (std::string_view no : {"0", "false", "off", "no"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

absl::Status BadValue(std::string_view source, std::string_view value, std::string_view expected) {
  std::string message(source);
  message.append("=").append(value).append(": expected ").append(expected);
  return absl::InvalidArgumentError(message);
}

}  // namespace

std::span<const RecordOption> RecordOptions() { return kOptions; }

std::string AbsoluteOrGivenPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.string();
}

absl::StatusOr<std::string> NormalizeOption(const RecordOption& option, std::string_view source,
                                            std::string_view value) {
  switch (option.kind) {
    case OptionKind::kPath:
      if (value.empty()) return BadValue(source, value, "a path");
      return AbsoluteOrGivenPath(std::string(value));
    case OptionKind::kSize:
      if (const auto bytes = ParseSize(value)) return std::to_string(*bytes);
      return BadValue(source, value, "a size such as 512MiB, 2.4GiB or plain bytes");
    case OptionKind::kFlag:
      if (const auto flag = ParseFlag(value)) return std::string(*flag ? "1" : "0");
      return BadValue(source, value, "0 or 1");
    case OptionKind::kSwitch:
      if (const auto flag = ParseFlag(value)) return std::string(*flag ? "1" : "0");
      return BadValue(source, value, "on or off");
    case OptionKind::kKernels:
      if (value == "times") break;
      if (const auto flag = ParseFlag(value)) return std::string(*flag ? "1" : "0");
      return BadValue(source, value, "on, off or times");
    case OptionKind::kNumber:
      if (const auto number = ParseDigits(value); number && *number <= kMaxNumber) return std::string(value);
      return BadValue(source, value, "a whole number, at most 999999999");
    case OptionKind::kOperators:
      if (value == "ranges" || value == "dispatch") break;
      return BadValue(source, value, "ranges or dispatch");
    case OptionKind::kStacks:
      if (value == "python" || value == "native" || value == "calls" || value == "off") break;
      return BadValue(source, value, "python, native, calls or off");
    case OptionKind::kPublication:
      if (value == "none" || value == "nvtx-memory") break;
      return BadValue(source, value, "none or nvtx-memory");
    case OptionKind::kSnapshots:
      if (IsSnapshots(value)) break;
      return BadValue(source, value, "oom, exception and exit, with commas between them");
    case OptionKind::kBound:
      if (value == "least" || value == "most") break;
      return BadValue(source, value, "least or most");
    case OptionKind::kAddresses:
      if (value == "linux" || value == "wsl") break;
      return BadValue(source, value, "linux or wsl");
    case OptionKind::kSteps:
      if (IsSteps(value)) return std::string(value);
      return BadValue(source, value, "A:B with A before B, such as 10:12");
    case OptionKind::kSchedule:
      if (IsSchedule(value)) return std::string(value);
      return BadValue(source, value, "wait=1,warmup=1,active=3,repeat=2, with active at least 1");
    case OptionKind::kLevel:
      if (value == "on" || value == "memory" || value == "off") return std::string(value);
      return BadValue(source, value, "on, memory or off");
    case OptionKind::kDetail:
      if (value == "full" || value == "auto" || value == "blocks") break;
      return BadValue(source, value, "full, auto or blocks");
    case OptionKind::kSignal:
      if (IsSignal(value)) return std::string(value);
      return BadValue(source, value, "a signal that a program may use so, such as USR1 or USR2");
    case OptionKind::kText:
      break;
  }
  return std::string(value);
}

std::vector<std::string> UnknownVariables(std::span<const std::string> environment) {
  std::vector<std::string> known;
  for (const RecordOption& option : kOptions) known.emplace_back(option.variable);
  std::vector<std::string> lines;
  for (const std::string& entry : environment) {
    const std::string name = entry.substr(0, entry.find('='));
    if (!name.starts_with("MEMOIR_") || std::ranges::find(known, name) != known.end()) continue;
    lines.push_back("unknown variable " + name + " is ignored" + DidYouMean(name, known));
  }
  return lines;
}

}  // namespace memoir
