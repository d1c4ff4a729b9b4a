// A value of a pickle in 8 bytes: an integer, or the number of an object in PickleHeap.
#ifndef TOOLS_IMPORT_SNAPSHOT_PICKLE_VALUE_H_
#define TOOLS_IMPORT_SNAPSHOT_PICKLE_VALUE_H_

#include <cstdint>

namespace memoir {

class PickleValue {
 public:
  enum class Kind : std::uint8_t {
    kNone,       // None; also floats, tuples that are not kPair, and other objects in snapshots
    kInteger,    // an integer of at most 60 bits
    kWide,       // the number of a larger integer
    kText,       // the number of a text
    kPair,       // a tuple of two numbers below 2^30
    kContainer,  // the number of a list or dictionary
  };

  PickleValue() = default;
  static PickleValue Of(Kind kind, std::uint64_t data) {
    return PickleValue((data << 4) | static_cast<unsigned>(kind));
  }
  static bool FitsInteger(std::int64_t value) {
    return value >= -(std::int64_t{1} << 59) && value < std::int64_t{1} << 59;
  }
  static PickleValue Integer(std::int64_t value) { return Of(Kind::kInteger, static_cast<std::uint64_t>(value)); }
  static PickleValue Text(std::uint32_t number) { return Of(Kind::kText, number); }
  static PickleValue Pair(std::uint64_t first, std::uint64_t second) { return Of(Kind::kPair, (first << 30) | second); }

  Kind kind() const { return static_cast<Kind>(bits_ & 15); }
  std::uint64_t data() const { return bits_ >> 4; }
  std::int64_t integer() const { return static_cast<std::int64_t>(bits_) >> 4; }
  std::uint32_t first() const { return static_cast<std::uint32_t>(data() >> 30); }
  std::uint32_t second() const { return static_cast<std::uint32_t>(data() & ((1u << 30) - 1)); }
  bool is(Kind kind) const { return this->kind() == kind; }

 private:
  explicit PickleValue(std::uint64_t bits) : bits_(bits) {}
  std::uint64_t bits_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_SNAPSHOT_PICKLE_VALUE_H_
