// Maps addresses of the program's objects (modules, parameters) to numbers, such as the id of a module in the ring's
// table of names (module_calls.h).
//
// An address identifies an object only during the object's life, so the code that adds an address removes it when the
// object dies. The table has a fixed size, but only pages that were written use memory. A full table refuses new
// entries. Any thread. A look-up takes no lock, and may miss an entry that is being changed.
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
  static constexpr std::size_t kMost = kSlots / 4 * 3;  // maximum number of entries

  // Returns the value of `address`; kUnknown if the table has no entry for it.
  std::uint32_t Find(std::uint64_t address) const;
  // Adds the entry of `address`, which is not 0, or replaces its value. False if the table is full.
  bool Set(std::uint64_t address, std::uint32_t value);
  // Removes the entry of `address` if its value is `value`. Another value means that another object now has the
  // address, so the entry stays. With kUnknown the entry is removed in any case.
  void Forget(std::uint64_t address, std::uint32_t value);
  // Removes all entries. Called at the start of a recording. `forked`: this process is a forked child, and a thread of
  // the parent may have held the lock at the fork.
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
  std::atomic<bool> lock_{false};
};

}  // namespace memoir

#endif  // TRACKER_MODULES_ADDRESS_TABLE_H_
