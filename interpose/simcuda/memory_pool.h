// Stream-ordered pools (cudaMallocAsync): a pool holds on to what it once reserved, and gives it back when it is
// trimmed or, above its threshold, when the device is synchronised.
//
// The driver's own growth steps are not public: a pool here grows by what is lacking, rounded up to 32 MiB. So its
// `reserved` is an estimate; `used` is exact. Any thread.
#ifndef INTERPOSE_SIMCUDA_MEMORY_POOL_H_
#define INTERPOSE_SIMCUDA_MEMORY_POOL_H_

#include <cstdint>

#include "interpose/simcuda/device.h"
#include "interpose/simcuda/mutex.h"

namespace memoir::simcuda {

class MemoryPool {
 public:
  static constexpr std::uint64_t kStep = 32u << 20;
  static constexpr std::uint64_t kAlignment = 512;

  explicit MemoryPool(Device& device) : device_(device) {}

  struct Statistics {
    std::uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0, release_threshold = 0;
  };

  std::uint64_t Allocate(std::uint64_t bytes);  // 0: does not fit
  bool Free(std::uint64_t address);             // false: not of a pool
  void TrimTo(std::uint64_t bytes);
  void Synchronized() { TrimTo(statistics().release_threshold); }

  Statistics statistics() const;
  void set_release_threshold(std::uint64_t bytes);
  void ResetHighMarks(bool used, bool reserved);
  Device& device() { return device_; }

 private:
  Device& device_;
  mutable Mutex mutex_;
  Statistics statistics_;
};

// A device's own pool, which cudaMallocAsync uses.
MemoryPool& DefaultPool(int device);
// The one that a block came from; null when it came from none.
MemoryPool* PoolOfBlock(std::uint64_t address);

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_MEMORY_POOL_H_
