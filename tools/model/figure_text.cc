#include "tools/model/figure_text.h"

#include <array>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace memoir {

std::string FormatBytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  constexpr std::size_t kGib = 2;  // index in kUnits
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  return FormatScaled(static_cast<double>(bytes) / 1024, 1024, kUnits, kGib);
}

std::string FormatMoment(std::uint64_t nanoseconds) {
  return absl::StrFormat("%.4f s", static_cast<double>(nanoseconds) / 1e9);
}

std::string FormatAt(std::uint64_t nanoseconds, std::uint64_t until) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  std::uint64_t unit = 1'000'000, time = nanoseconds;
  int decimals = 3;
  for (; unit > 1; unit /= 10, ++decimals) {
    time = (nanoseconds + unit - 1) / unit * unit;
    if (time == nanoseconds || time < until) break;
  }
  if (unit == 1) time = nanoseconds;
  return absl::StrFormat("%d.%0*ds", time / kSecond, decimals, time % kSecond / unit);
}

std::string FormatScaled(double value, double step, absl::Span<const std::string_view> units,
                         std::size_t precise_from) {
  std::size_t unit = 0;
  // Also takes the next unit if rounding would print 1024.0.
  while (unit + 1 < units.size() && value >= step - 0.05) {
    value /= step;
    ++unit;
  }
  const int decimals = unit >= precise_from && value < 9.995 ? 2 : 1;
  return absl::StrFormat("%.*f %s", decimals, value, units[unit]);
}

}  // namespace memoir
