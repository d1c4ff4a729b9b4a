#include "tools/view/terminal/units.h"

#include <array>
#include <cstddef>
#include <string_view>

#include "fmt/format.h"

namespace memoir {
namespace {

// One decimal; moves on to the next unit where rounding would print 1024.0.
std::string Scaled(double value, double step, std::size_t count, const std::string_view* units) {
  std::size_t unit = 0;
  while (unit + 1 < count && value >= step - 0.05) {
    value /= step;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, units[unit]);
}

}  // namespace

std::string FormatBytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  return Scaled(static_cast<double>(bytes) / 1024, 1024, kUnits.size(), kUnits.data());
}

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
    return Scaled(static_cast<double>(nanoseconds) / 1000, 1000, kUnits.size(), kUnits.data());
  const std::uint64_t seconds = nanoseconds / kSecond;
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
}

std::string FormatMoment(std::uint64_t nanoseconds) {
  return fmt::format("{:.4f} s", static_cast<double>(nanoseconds) / 1e9);
}

}  // namespace memoir
