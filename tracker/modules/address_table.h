// From the address of an object of the program to a small number: modules, and parameters, to their names in the ring.
//
// Addresses say which object it is only while that lives: whoever sets one forgets it when the object goes. Of a fixed
// size, of which only touched pages take memory; full, it refuses. Any thread. Finding takes no lock; one that meets a
// change of the same entry may miss it.
#ifndef TRACKER_MODULES_ADDRESS_TABLE_H_
#define TRACKER_MODULES_ADDRESS_TABLE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace memoir {

class AddressTable {
 public:
  static constexpr std::uint32_t kUnknown = 0xffffffffu;
  static constexpr std::size_t kSlots = 1u << 16;
  static constexpr std::size_t kMost = kSlots / 4 * 3;

  std::uint32_t Find(std::uint64_t address) const;
  // False when the table is full. `address` is not 0.
  bool Set(std::uint64_t address, std::uint32_t value);
  // Only if it has `value`, or any with kUnknown: an address may be another object's by now.
  void Forget(std::uint64_t address, std::uint32_t value);
  // At the start of a recording. `forked`: in a child, whose parent's threads may have left the lock taken.
  void Clear(bool forked);

 private:
  struct Slot {
    std::atomic<std::uint64_t> address;  // 0: free
    std::atomic<std::uint32_t> value;
  };
  std::size_t Probe(std::uint64_t address) const;
  void Close(std::size_t hole);

  std::array<Slot, kSlots> slots_{};
  std::size_t used_ = 0;
  std::atomic_flag lock_;
};

}  // namespace memoir

#endif  // TRACKER_MODULES_ADDRESS_TABLE_H_
