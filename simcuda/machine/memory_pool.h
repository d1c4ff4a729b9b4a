// Stream-ordered pools (cudaMallocAsync). A pool keeps the memory that it has reserved, until the pool is trimmed. The
// default pool also returns memory above its threshold when the device is synchronised.
//
// The steps by which the real driver grows a pool are not public. Here a pool grows by the missing bytes, rounded up to
// 32 MiB. So `reserved` is an estimate; `used` is exact. Any thread.
#ifndef SIMCUDA_MACHINE_MEMORY_POOL_H_
#define SIMCUDA_MACHINE_MEMORY_POOL_H_

#include <cstdint>

#include "simcuda/machine/device.h"
#include "simcuda/process/mutex.h"

namespace memoir::simcuda {

class MemoryPool {
 public:
  static constexpr std::uint64_t kStep = 32u << 20;
  static constexpr std::uint64_t kAlignment = 512;

  explicit MemoryPool(Device& device) : device_(device) {}

  struct Statistics {
    std::uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0, release_threshold = 0;
  };

  std::uint64_t Allocate(std::uint64_t bytes);  // 0 if it does not fit
  bool Free(std::uint64_t address);             // false if the block is not from a pool
  void TrimTo(std::uint64_t bytes);
  void TrimToThreshold() { TrimTo(statistics().release_threshold); }

  Statistics statistics() const;
  void set_release_threshold(std::uint64_t bytes);
  void ResetHighMarks(bool used, bool reserved);
  Device& device() { return device_; }

 private:
  Device& device_;
  mutable Mutex mutex_;
  Statistics statistics_;
};

// Returns the device's default pool, which cudaMallocAsync uses.
MemoryPool& DefaultPool(int device);
// Returns the pool that a block came from. nullptr if the block did not come from a pool.
MemoryPool* PoolOfBlock(std::uint64_t address);

}  // namespace memoir::simcuda

#endif  // SIMCUDA_MACHINE_MEMORY_POOL_H_
