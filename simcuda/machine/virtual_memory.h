// Virtual memory management (cuMemCreate, cuMemMap ...), on which torch's expandable segments depend.
//
// Physical memory is only a number of bytes in a device's budget. A mapping is only an entry in a table, because the
// addresses can be read with or without a mapping. Physical memory is charged from its creation until its handle is
// released and its last mapping is removed.
//
// Any thread.
#ifndef SIMCUDA_MACHINE_VIRTUAL_MEMORY_H_
#define SIMCUDA_MACHINE_VIRTUAL_MEMORY_H_

#include <cstdint>
#include <map>
#include <optional>

#include "simcuda/machine/device.h"
#include "simcuda/process/mutex.h"

namespace memoir::simcuda {

class VirtualMemory {
 public:
  using Handle = std::uint64_t;  // never 0

  // Creates physical memory. 0 if it does not fit.
  Handle Create(Device& device, std::uint64_t bytes);
  bool Release(Handle handle);
  // Returns the handle of the memory that is mapped at `address`, with one more reference, which the caller must
  // release. 0 if nothing is mapped there.
  Handle Retain(std::uint64_t address);
  std::optional<int> DeviceOf(Handle handle) const;

  // False if the handle is invalid, has another size, or something is mapped there already.
  bool Map(std::uint64_t address, std::uint64_t bytes, Handle handle);
  // Removes every mapping in the range; the contents of the unmapped bytes are lost. False if the range contains no
  // mapping, or if a mapping extends beyond the end of the range.
  bool Unmap(std::uint64_t address, std::uint64_t bytes);

  std::uint64_t physical_bytes() const;

 private:
  struct Physical {
    Device* device = nullptr;
    std::uint64_t bytes = 0;
    int handles = 0, mappings = 0;
  };
  struct Mapping {
    Handle handle = 0;
    std::uint64_t bytes = 0;
  };
  void DropIfUnused(Handle handle);

  mutable Mutex mutex_;
  Handle next_ = 1;
  std::map<Handle, Physical> physical_;
  std::map<std::uint64_t, Mapping> mappings_;
};

}  // namespace memoir::simcuda

#endif  // SIMCUDA_MACHINE_VIRTUAL_MEMORY_H_
