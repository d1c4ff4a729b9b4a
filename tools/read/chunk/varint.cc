#include "tools/read/chunk/varint.h"

#include <algorithm>
#include <cstring>

namespace memoir {

WireReader::WireReader(std::string_view message)
    : at_(reinterpret_cast<const std::uint8_t*>(message.data())), end_(at_ + message.size()) {}

bool WireReader::Next(WireField* field) {
  if (at_ == end_) return false;
  std::uint64_t tag = 0;
  if (!ReadVarint(&at_, end_, &tag) || tag >> 3 == 0 || tag >> 32 != 0) return Fail();
  field->number = static_cast<std::uint32_t>(tag >> 3);
  field->type = static_cast<WireType>(tag & 7);
  switch (field->type) {
    case WireType::kVarint:
      return ReadVarint(&at_, end_, &field->value) || Fail();
    case WireType::kFixed64:
    case WireType::kFixed32: {
      const std::ptrdiff_t size = field->type == WireType::kFixed64 ? 8 : 4;
      if (end_ - at_ < size) return Fail();
      field->value = 0;
      std::memcpy(&field->value, at_, static_cast<std::size_t>(size));
      at_ += size;
      return true;
    }
    case WireType::kBytes: {
      std::uint64_t length = 0;
      if (!ReadVarint(&at_, end_, &length) || length > static_cast<std::uint64_t>(end_ - at_)) return Fail();
      field->bytes = std::string_view(reinterpret_cast<const char*>(at_), static_cast<std::size_t>(length));
      at_ += length;
      return true;
    }
  }
  return Fail();
}

bool PackedVarints::Count(std::uint64_t* values) const {
  // A value ends at a byte whose highest bit is 0. Reads eight bytes at a time and counts in one 8-bit counter for each
  // byte of the word. Before a counter can overflow, all counters are summed.
  constexpr std::uint64_t kLowestBits = 0x0101010101010101u;
  constexpr std::size_t kMostWords = 255;
  std::uint64_t count = 0;
  std::size_t i = 0;
  while (bytes_ - i >= 8) {
    const std::size_t stop = i + 8 * std::min(kMostWords, (bytes_ - i) / 8);
    std::uint64_t counters = 0;
    for (; i < stop; i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, at_ + i, sizeof word);
      counters += (~word >> 7) & kLowestBits;
    }
    constexpr std::uint64_t kEvenBytes = 0x00ff00ff00ff00ffu;
    const std::uint64_t pairs = (counters & kEvenBytes) + ((counters >> 8) & kEvenBytes);
    count += (pairs * 0x0001000100010001u) >> 48;
  }
  for (; i < bytes_; ++i) count += at_[i] < 0x80;
  *values = count;
  return bytes_ == 0 || at_[bytes_ - 1] < 0x80;
}

}  // namespace memoir
