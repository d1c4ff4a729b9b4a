// Virtual memory management (cuMemCreate, cuMemMap ...): what torch's expandable segments live on.
//
// Physical memory is a number in a device's budget; mapping it is bookkeeping, because the addresses are readable
// anyway. It is charged from its creation until both its handle is released and its last mapping is gone.
//
// Any thread.
#ifndef INTERPOSE_SIMCUDA_VIRTUAL_MEMORY_H_
#define INTERPOSE_SIMCUDA_VIRTUAL_MEMORY_H_

#include <cstdint>
#include <map>
#include <optional>

#include "interpose/simcuda/device.h"
#include "interpose/simcuda/mutex.h"

namespace memoir::simcuda {

class VirtualMemory {
 public:
  using Handle = std::uint64_t;  // never 0

  // 0 when it does not fit.
  Handle Create(Device& device, std::uint64_t bytes);
  bool Release(Handle handle);
  // A further handle, to release, of what is mapped around `address`; 0 when nothing is.
  Handle Retain(std::uint64_t address);
  std::optional<int> DeviceOf(Handle handle) const;

  // False when the handle is none, its size is another, or something is mapped there already.
  bool Map(std::uint64_t address, std::uint64_t bytes, Handle handle);
  // Every mapping in the range, each of which must lie inside it whole; false when there is none. Their bytes are gone.
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

#endif  // INTERPOSE_SIMCUDA_VIRTUAL_MEMORY_H_
