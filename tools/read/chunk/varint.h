// Base-128 varints and the fields of a protobuf message, read in place.
//
// Events are not parsed into libprotobuf's messages. Their columns are read in place in the decompressed chunk, which
// needs no memory for each event and skips unused columns. libprotobuf parses everything else of a capture.
#ifndef TOOLS_READ_CHUNK_VARINT_H_
#define TOOLS_READ_CHUNK_VARINT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace memoir {

// Reads one varint from [*at, end). Returns false if the varint does not end before `end`, or is longer than 10 bytes.
inline bool ReadVarint(const std::uint8_t** at, const std::uint8_t* end, std::uint64_t* value) {
  std::uint64_t result = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (*at == end) return false;
    const std::uint8_t byte = *(*at)++;
    if (shift < 64) result |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return true;
    }
  }
  return false;
}

inline std::int64_t DecodeZigZag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t value = 0;  // kVarint, kFixed64, kFixed32
  std::string_view bytes;   // kBytes: points into the message
};

// Iterates over the fields of a message. Next returns false at the end and on damage; ok() distinguishes the two.
class WireReader {
 public:
  explicit WireReader(std::string_view message);
  bool Next(WireField* field);
  bool ok() const { return ok_; }

 private:
  bool Fail() {
    ok_ = false;
    return false;
  }
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool ok_ = true;
};

// The bytes of a packed column of varints. Its values are read by Column or ZeroableColumn.
class PackedVarints {
 public:
  PackedVarints() = default;
  explicit PackedVarints(std::string_view bytes)
      : at_(reinterpret_cast<const std::uint8_t*>(bytes.data())), bytes_(bytes.size()) {}

  // Counts the values. Returns false if the last value is cut.
  bool Count(std::uint64_t* values) const;
  bool empty() const { return bytes_ == 0; }
  std::size_t size() const { return bytes_; }  // bytes, including those already read

 protected:
  std::uint64_t ReadVarint() {
    std::uint64_t byte = *at_++;
    if (byte < 0x80) [[likely]]
      return byte;
    std::uint64_t value = byte & 0x7f;
    unsigned shift = 7;
    do {
      byte = *at_++;
      value |= (byte & 0x7f) << (shift & 63);  // wrong for overlong varints, but harmless
      shift += 7;
    } while (byte >= 0x80);
    return value;
  }

 private:
  const std::uint8_t* at_ = nullptr;
  std::size_t bytes_ = 0;
};

// A column with a value for each event. Once Count has returned the expected number, Next needs no check of bounds.
class Column : public PackedVarints {
 public:
  using PackedVarints::PackedVarints;
  std::uint64_t Next() { return ReadVarint(); }
  std::uint32_t Next32() { return static_cast<std::uint32_t>(Next()); }
};

// A column that a capture leaves out if all of its values are 0.
class ZeroableColumn : public PackedVarints {
 public:
  std::uint64_t Next() { return empty() ? 0 : ReadVarint(); }
  std::uint32_t Next32() { return static_cast<std::uint32_t>(Next()); }
};

}  // namespace memoir

#endif  // TOOLS_READ_CHUNK_VARINT_H_
