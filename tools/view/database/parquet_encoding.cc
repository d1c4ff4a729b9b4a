#include "tools/view/database/parquet_encoding.h"

#include <algorithm>

namespace memoir {
namespace {

constexpr std::size_t kGroup = 8;  // values that are packed together

// Returns the number of equal values from `begin` on.
std::size_t RunLength(std::span<const std::uint32_t> values, std::size_t begin) {
  const auto rest = values.subspan(begin);
  return static_cast<std::size_t>(
      std::ranges::find_if(rest, [&](std::uint32_t value) { return value != rest.front(); }) - rest.begin());
}

// Appends values in groups of kGroup, bit-packed. Zeros fill up the last group.
void AppendPacked(std::span<const std::uint32_t> values, unsigned bits, std::string& out) {
  if (values.empty()) return;
  const std::size_t groups = (values.size() + kGroup - 1) / kGroup;
  AppendVarint(groups << 1U | 1U, out);
  std::uint64_t waiting = 0;
  unsigned waiting_bits = 0;
  for (std::size_t i = 0; i < groups * kGroup; ++i) {
    waiting |= std::uint64_t{i < values.size() ? values[i] : 0} << waiting_bits;
    waiting_bits += bits;
    for (; waiting_bits >= 8; waiting_bits -= 8, waiting >>= 8U) out.push_back(static_cast<char>(waiting & 0xff));
  }
}

std::uint64_t Zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1U) ^ (value < 0 ? ~std::uint64_t{0} : 0);
}

}  // namespace

void AppendVarint(std::uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7U) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void AppendNumber(std::uint64_t value, std::size_t bytes, std::string& out) {
  for (std::size_t i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

void AppendHybrid(std::span<const std::uint32_t> values, unsigned bits, std::string& out) {
  // The values from `packed` to `i` will be packed, in whole groups, because a run must not begin inside of a group.
  std::size_t packed = 0;
  for (std::size_t i = 0; i < values.size();) {
    const std::size_t run = RunLength(values, i);
    if (run < kGroup) {
      i = std::min(i + kGroup, values.size());
      if (i == values.size()) AppendPacked(values.subspan(packed), bits, out);
      continue;
    }
    AppendPacked(values.subspan(packed, i - packed), bits, out);
    AppendVarint(run << 1U, out);
    AppendNumber(values[i], (bits + 7) / 8, out);
    packed = i += run;
  }
}

void ThriftStruct::Header(int id, Type type) {
  // Appends the short form of a header, which suffices because the ids of these structs are at most 15 apart.
  out_.push_back(static_cast<char>((id - last_id_) << 4 | static_cast<int>(type)));
  last_id_ = id;
}

void ThriftStruct::Number(int id, Type type, std::int64_t value) {
  Header(id, type);
  AppendInteger(value, out_);
}

void ThriftStruct::Byte(int id, std::uint8_t value) {
  Header(id, Type::kByte);
  out_.push_back(static_cast<char>(value));
}

void ThriftStruct::Text(int id, std::string_view value) {
  Header(id, Type::kText);
  AppendText(value, out_);
}

void ThriftStruct::List(int id, Type of, std::size_t size) {
  Header(id, Type::kList);
  const auto type = static_cast<unsigned>(of);
  out_.push_back(static_cast<char>((size < 15 ? size : 15) << 4U | type));
  if (size >= 15) AppendVarint(size, out_);
}

void ThriftStruct::AppendInteger(std::int64_t value, std::string& out) { AppendVarint(Zigzag(value), out); }

void ThriftStruct::AppendText(std::string_view value, std::string& out) {
  AppendVarint(value.size(), out);
  out.append(value);
}

}  // namespace memoir
