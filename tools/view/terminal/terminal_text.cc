#include "tools/view/terminal/terminal_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "fmt/format.h"

namespace memoir {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

using Interval = std::pair<std::uint32_t, std::uint32_t>;

template <std::size_t N>
bool Contains(const std::array<Interval, N>& intervals, std::uint32_t value) {
  return std::ranges::any_of(intervals, [value](const Interval& i) { return value >= i.first && value <= i.second; });
}

// Treats overlong forms, surrogates and cut sequences as invalid, because a terminal may interpret them differently.
CodePoint Decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || bytes > text.size()) return {first, 1, false};
  std::uint32_t value = first & (0xFFu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {first, 1, false};
    value = value << 6 | (byte(i) & 0x3Fu);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kSmallest[bytes] || surrogate || value > 0x10FFFF) return {first, 1, false};
  return {value, bytes, true};
}

// C0 and C1 controls, and Unicode's bidirectional controls, line separators, invisible operators and tags.
bool MustBeEscaped(std::uint32_t value) {
  constexpr std::array<Interval, 9> kHidden = {{{0x00, 0x1F},
                                                {0x7F, 0x9F},
                                                {0xAD, 0xAD},
                                                {0x61C, 0x61C},
                                                {0x200B, 0x200F},
                                                {0x2028, 0x202E},
                                                {0x2060, 0x206F},
                                                {0xFEFF, 0xFEFF},
                                                {0xE0000, 0xE0FFF}}};
  return Contains(kHidden, value);
}

std::size_t Columns(std::uint32_t value) {
  constexpr std::array<Interval, 6> kZero = {
      {{0x300, 0x36F}, {0x483, 0x489}, {0x591, 0x5BD}, {0x1AB0, 0x1AFF}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}}};
  constexpr std::array<Interval, 9> kWide = {{{0x1100, 0x115F},
                                              {0x2E80, 0x303E},
                                              {0x3041, 0xA4CF},
                                              {0xAC00, 0xD7A3},
                                              {0xF900, 0xFAFF},
                                              {0xFE30, 0xFE6F},
                                              {0xFF01, 0xFF60},
                                              {0x1F300, 0x1F9FF},
                                              {0x20000, 0x3FFFD}}};
  if (Contains(kZero, value)) return 0;
  return Contains(kWide, value) ? 2 : 1;
}

std::string EscapeOf(const CodePoint& code, char byte) {
  if (!code.valid) return fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  if (code.value == '\n') return "\\n";
  if (code.value == '\t') return "\\t";
  if (code.value < 0x80) return fmt::format("\\x{:02x}", code.value);
  return fmt::format("\\u{{{:x}}}", code.value);
}

}  // namespace

std::string Escaped(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  while (!text.empty()) {
    const CodePoint code = Decode(text);
    if (code.valid && !MustBeEscaped(code.value)) {
      escaped.append(text.substr(0, code.bytes));
    } else {
      escaped += EscapeOf(code, text[0]);
    }
    text.remove_prefix(code.bytes);
  }
  return escaped;
}

std::string EscapedInJson(std::string_view json) {
  std::string escaped;
  escaped.reserve(json.size());
  while (!json.empty()) {
    const CodePoint code = Decode(json);
    if (!code.valid || code.value < 0x7F || !MustBeEscaped(code.value)) {
      escaped.append(json.substr(0, code.bytes));
    } else if (code.value < 0x10000) {
      escaped += fmt::format("\\u{:04x}", code.value);
    } else {
      const std::uint32_t above = code.value - 0x10000;
      escaped += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (above >> 10), 0xDC00 + (above & 0x3FF));
    }
    json.remove_prefix(code.bytes);
  }
  return escaped;
}

std::string ShownName(std::string_view name) { return name.empty() ? "(unnamed)" : Escaped(name); }

std::size_t DisplayWidth(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const CodePoint code = Decode(text);
    columns += code.valid ? Columns(code.value) : 1;
    text.remove_prefix(code.bytes);
  }
  return columns;
}

std::string Shortened(std::string_view text, std::size_t width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width == 0) return "";
  // Takes whole characters from both ends. If the number of columns is odd, the start has one more.
  const std::size_t tail_columns = (width - 1) / 2;
  const std::size_t head_columns = width - 1 - tail_columns;
  std::size_t head = 0;
  for (std::size_t used = 0; head < text.size();) {
    const CodePoint code = Decode(text.substr(head));
    used += Columns(code.value);
    if (used > head_columns) break;
    head += code.bytes;
  }
  std::size_t tail = text.size();
  for (std::size_t used = 0; tail > head;) {
    std::size_t start = tail - 1;
    while (start > head && (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80) --start;
    used += Columns(Decode(text.substr(start)).value);
    if (used > tail_columns) break;
    tail = start;
  }
  return std::string(text.substr(0, head)) + "…" + std::string(text.substr(tail));
}

std::string Wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string wrapped;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const std::size_t columns = DisplayWidth(word);
    if (column > indent && column + 1 + columns > width) {
      wrapped += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += columns;
  }
  return wrapped;
}

std::string PaddedRight(std::string_view text, std::size_t width) {
  const std::size_t columns = DisplayWidth(text);
  return std::string(text) + std::string(columns < width ? width - columns : 0, ' ');
}

std::string PaddedLeft(std::string_view text, std::size_t width) {
  const std::size_t columns = DisplayWidth(text);
  return std::string(columns < width ? width - columns : 0, ' ') + std::string(text);
}

}  // namespace memoir
