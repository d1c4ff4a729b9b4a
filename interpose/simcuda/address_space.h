// A device's addresses: one region of the process's address space, dealt out first fit from either end, so that equal
// programs see equal addresses.
//
// The region is reserved once and backed by nothing: pages exist only where `Contents` wrote bytes. Not thread-safe; a
// `Device` guards its own.
#ifndef INTERPOSE_SIMCUDA_ADDRESS_SPACE_H_
#define INTERPOSE_SIMCUDA_ADDRESS_SPACE_H_

#include <cstdint>

#include "interpose/simcuda/address_holes.h"

namespace memoir::simcuda {

class AddressSpace {
 public:
  // Reserves a region of `wanted` bytes, or of less where the process may not have as much (ulimit -v), but at least
  // `least`. `ordinal` decides where. On failure size() is 0 and errno says why.
  void Reserve(int ordinal, std::uint64_t wanted, std::uint64_t least);

  // Addresses of `bytes` bytes at a multiple of `alignment` (a power of two), the lowest there are; 0 when there is no
  // such hole.
  std::uint64_t Take(std::uint64_t bytes, std::uint64_t alignment);
  // The highest, as Linux's mmap deals them to one who needs an alignment: it asks for `alignment` bytes more (but a
  // page), which the hole must have, and returns what it does not need.
  std::uint64_t TakeHighest(std::uint64_t bytes, std::uint64_t alignment);
  // What was taken, whole.
  void Give(std::uint64_t address, std::uint64_t bytes);

  std::uint64_t base() const { return base_; }
  std::uint64_t size() const { return size_; }
  bool Contains(std::uint64_t address) const { return address - base_ < size_; }

 private:
  std::uint64_t base_ = 0;
  std::uint64_t size_ = 0;
  AddressHoles holes_;
};

// Whether this process may take addresses only up to a limit (ulimit -v).
bool HasAddressLimit();

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_ADDRESS_SPACE_H_
