#include "tracker/stacks/line_table.h"

namespace memoir {
namespace {

std::uint32_t AsLine(std::int64_t line) { return line > 0 && line <= INT32_MAX ? static_cast<std::uint32_t>(line) : 0; }

// Values of bits 3 to 6 in the first byte of an entry. They determine which numbers follow in the entry.
enum Form : std::uint8_t { kFirstOneLine = 10, kLastOneLine = 12, kNoColumns = 13, kLong = 14, kNoLocation = 15 };

// Reads a line table byte by byte.
class Bytes {
 public:
  Bytes(const std::uint8_t* at, std::size_t size) : at_(at), end_(at + size) {}
  bool empty() const { return at_ == end_; }
  std::uint8_t Next() { return at_ == end_ ? 0 : *at_++; }
  // Skips the remaining bytes of an entry. Only the first byte of an entry has its highest bit set.
  void SkipEntry() {
    while (at_ != end_ && (*at_ & 0x80) == 0) ++at_;
  }
  // Reads a number with six bits in each byte, the lowest bits first. The lowest bit of the number is its sign.
  std::int64_t Signed() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 36; shift += 6) {
      const std::uint8_t byte = Next();
      value |= std::uint64_t{byte & 0x3fu} << shift;
      if ((byte & 0x40) == 0) break;
    }
    const auto half = static_cast<std::int64_t>(value >> 1);
    return (value & 1) != 0 ? -half : half;
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

}  // namespace

std::uint32_t LineInPairs(const std::uint8_t* table, std::size_t size, std::int32_t first_line,
                          std::uint32_t instruction) {
  constexpr std::int8_t kNoLine = -128;
  std::int64_t line = first_line;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i + 1 < size; i += 2) {
    const auto delta = static_cast<std::int8_t>(table[i + 1]);
    if (delta != kNoLine) line += delta;
    end += table[i];
    if (instruction < end) return delta == kNoLine ? 0 : AsLine(line);
  }
  return 0;
}

std::uint32_t LineInLocations(const std::uint8_t* table, std::size_t size, std::int32_t first_line,
                              std::uint32_t instruction) {
  constexpr std::uint64_t kUnitBytes = 2;
  Bytes bytes(table, size);
  std::int64_t line = first_line;
  std::uint64_t end = 0;
  while (!bytes.empty()) {
    const std::uint8_t first = bytes.Next();
    const auto form = static_cast<std::uint8_t>(first >> 3 & 15);
    if (form == kNoColumns || form == kLong) line += bytes.Signed();
    if (form >= kFirstOneLine && form <= kLastOneLine) line += form - kFirstOneLine;
    end += ((first & 7u) + 1) * kUnitBytes;
    if (instruction < end) return form == kNoLocation ? 0 : AsLine(line);
    bytes.SkipEntry();
  }
  return 0;
}

}  // namespace memoir
