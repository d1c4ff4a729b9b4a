// Parses sizes in options and environment variables, such as "512MiB". The recorder, the tools and the simulated device
// use this parser, so it includes no other file of Memoir. Any thread.
#ifndef PROTO_MEMOIR_BYTE_SIZE_H_
#define PROTO_MEMOIR_BYTE_SIZE_H_

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace memoir {

struct ByteUnit {
  std::string_view name;
  std::uint64_t bytes;
};

inline constexpr ByteUnit kByteUnits[] = {
    {"", 1},           {"B", 1},           {"KiB", 1ull << 10}, {"MiB", 1ull << 20}, {"GiB", 1ull << 30},
    {"TiB", 1ull << 40}, {"K", 1ull << 10}, {"M", 1ull << 20},   {"G", 1ull << 30},   {"T", 1ull << 40},
    {"KB", 1000},      {"MB", 1000'000},   {"GB", 1000'000'000}};

// Returns the bytes of "512MiB", "2.4GiB", "512M" or "536870912"; "512MB" is 512,000,000. Rounds fractions of a byte
// down. Empty if `text` is not a size, is 2^64 or more, or has a fraction without a larger unit ("1.5", "1.5B").
inline std::optional<std::uint64_t> ParseSize(std::string_view text) {
  std::uint64_t whole = 0;
  const auto [point, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(point - text.data()));
  double fraction = 0;
  const bool has_fraction = text.starts_with('.');
  if (has_fraction) {
    const std::size_t end = text.find_first_not_of("0123456789", 1);
    const std::string_view digits = text.substr(1, end == std::string_view::npos ? end : end - 1);
    if (digits.empty()) return std::nullopt;
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) fraction = (fraction + (*digit - '0')) / 10;
    text.remove_prefix(1 + digits.size());
  }
  for (const ByteUnit& unit : kByteUnits) {
    if (text != unit.name) continue;
    if (has_fraction && unit.bytes == 1) return std::nullopt;
    if (whole > UINT64_MAX / unit.bytes) return std::nullopt;
    const auto rest = static_cast<std::uint64_t>(fraction * static_cast<double>(unit.bytes));
    return whole * unit.bytes > UINT64_MAX - rest ? std::nullopt : std::optional(whole * unit.bytes + rest);
  }
  return std::nullopt;
}

}  // namespace memoir

#endif  // PROTO_MEMOIR_BYTE_SIZE_H_
