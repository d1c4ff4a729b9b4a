// The addresses of one device: a region of the process's address space. A range is taken first fit, from the low end or
// the high end, so equal programs see equal addresses.
//
// The region is reserved once and occupies no memory: pages exist only where `Contents` wrote bytes. Not thread-safe;
// each `Device` locks its own.
#ifndef SIMCUDA_ADDRESSES_ADDRESS_SPACE_H_
#define SIMCUDA_ADDRESSES_ADDRESS_SPACE_H_

#include <cstdint>

#include "simcuda/addresses/address_holes.h"

namespace memoir::simcuda {

class AddressSpace {
 public:
  // Reserves a region of `wanted` bytes, or fewer if the system refuses so many (ulimit -v), but at least `least`. The
  // region's address depends on the device's number `ordinal`. On failure size() is 0 and errno has the cause.
  void Reserve(int ordinal, std::uint64_t wanted, std::uint64_t least);

  // Takes the lowest free range of `bytes` bytes whose address is a multiple of `alignment` (a power of two). 0 if no
  // hole is large enough.
  std::uint64_t Take(std::uint64_t bytes, std::uint64_t alignment);
  // Takes the highest aligned range in the highest hole that has room for `bytes` + `alignment` minus one page. The
  // bytes that alignment skips stay free. This is the address that a driver gets on Linux if it maps so many bytes,
  // aligns the address, and unmaps the rest: mmap chooses the highest hole. 0 if no hole is large enough.
  std::uint64_t TakeHighest(std::uint64_t bytes, std::uint64_t alignment);
  // Gives back a taken range, as a whole.
  void Give(std::uint64_t address, std::uint64_t bytes);

  std::uint64_t base() const { return base_; }
  std::uint64_t size() const { return size_; }
  bool Contains(std::uint64_t address) const { return address - base_ < size_; }

 private:
  std::uint64_t base_ = 0;
  std::uint64_t size_ = 0;
  AddressHoles holes_;
};

// Whether the address space of this process is limited (ulimit -v).
bool HasAddressLimit();

}  // namespace memoir::simcuda

#endif  // SIMCUDA_ADDRESSES_ADDRESS_SPACE_H_
