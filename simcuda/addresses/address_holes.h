// Free ranges of addresses (holes), sorted by address; adjacent holes are merged. The owner of the object chooses the
// hole from which to take a range.
//
// Not thread-safe.
#ifndef SIMCUDA_ADDRESSES_ADDRESS_HOLES_H_
#define SIMCUDA_ADDRESSES_ADDRESS_HOLES_H_

#include <cstdint>
#include <map>

namespace memoir::simcuda {

// Rounds up to a multiple of `step`, a power of two.
inline std::uint64_t RoundUp(std::uint64_t value, std::uint64_t step) { return (value + step - 1) & ~(step - 1); }

class AddressHoles {
 public:
  using Map = std::map<std::uint64_t, std::uint64_t>;  // address -> bytes

  // Adds a free range.
  void Give(std::uint64_t address, std::uint64_t bytes);
  // Takes [address, address + bytes), which lies in `hole`.
  void Cut(Map::const_iterator hole, std::uint64_t address, std::uint64_t bytes);

  const Map& all() const { return holes_; }
  std::uint64_t Largest() const;

 private:
  Map holes_;
};

// Returns true if the hole still has room for `bytes` after its begin is rounded up to `alignment`.
inline bool Suffices(const AddressHoles::Map::value_type& hole, std::uint64_t bytes, std::uint64_t alignment) {
  const std::uint64_t skipped = RoundUp(hole.first, alignment) - hole.first;
  return hole.second >= skipped && hole.second - skipped >= bytes;
}

}  // namespace memoir::simcuda

#endif  // SIMCUDA_ADDRESSES_ADDRESS_HOLES_H_
