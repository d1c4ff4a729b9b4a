#include "tools/view/terminal/units.h"

#include <array>
#include <string_view>

#include "fmt/format.h"

namespace memoir {

std::string FormatSignedBytes(std::int64_t bytes) {
  const std::uint64_t magnitude = bytes < 0 ? 0 - static_cast<std::uint64_t>(bytes) : static_cast<std::uint64_t>(bytes);
  return (bytes < 0 ? "-" : bytes > 0 ? "+" : "") + FormatBytes(magnitude);
}

std::string FormatCount(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

std::string FormatCounted(std::uint64_t count, std::string_view one, std::string_view many) {
  return FormatCount(count) + " " + std::string(count == 1 ? one : many);
}

std::string FormatShare(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.1f}%", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string FormatDuration(std::uint64_t nanoseconds) {
  constexpr std::array<std::string_view, 3> kUnits = {"µs", "ms", "s"};
  constexpr std::uint64_t kSecond = 1'000'000'000;
  if (nanoseconds < 1000) return fmt::format("{} ns", nanoseconds);
  if (nanoseconds < 60 * kSecond)
    return FormatScaled(static_cast<double>(nanoseconds) / 1000, 1000, kUnits, kUnits.size());
  const std::uint64_t seconds = nanoseconds / kSecond;
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
}

}  // namespace memoir
