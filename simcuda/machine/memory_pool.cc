#include "simcuda/machine/memory_pool.h"

#include <algorithm>
#include <map>

#include "simcuda/machine/machine.h"
#include "simcuda/process/mutex.h"

namespace memoir::simcuda {
namespace {

struct Pools {
  Mutex mutex;
  std::map<int, MemoryPool> defaults;
  std::map<std::uint64_t, MemoryPool*> of_block;
};

constinit LazyObject<Pools> all_pools;

Pools& AllPools() { return all_pools.Get(); }

}  // namespace

std::uint64_t MemoryPool::Allocate(std::uint64_t bytes) {
  const std::uint64_t address = device_.Allocate(bytes, BlockKind::kPool, kAlignment);
  if (address == 0) return 0;
  const std::uint64_t size = device_.BlockAt(address)->bytes;
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t used = statistics_.used + size;
    std::uint64_t lacking = used > statistics_.reserved ? used - statistics_.reserved : 0;
    lacking = (lacking + kStep - 1) / kStep * kStep;
    if (lacking > 0 && !device_.Charge(lacking, BudgetHolder::kPools)) {
      device_.Free(address, BlockKind::kPool);
      return 0;
    }
    statistics_.used = used;
    statistics_.reserved += lacking;
    statistics_.used_high = std::max(statistics_.used_high, used);
    statistics_.reserved_high = std::max(statistics_.reserved_high, statistics_.reserved);
  }
  const std::lock_guard lock(AllPools().mutex);
  AllPools().of_block[address] = this;
  return address;
}

bool MemoryPool::Free(std::uint64_t address) {
  const auto block = device_.BlockAt(address);
  if (!block || block->address != address || !device_.Free(address, BlockKind::kPool)) return false;
  {
    const std::lock_guard lock(mutex_);
    statistics_.used -= block->bytes;
  }
  const std::lock_guard lock(AllPools().mutex);
  AllPools().of_block.erase(address);
  return true;
}

void MemoryPool::TrimTo(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t needed = (std::max(bytes, statistics_.used) + kStep - 1) / kStep * kStep;
  if (bytes == UINT64_MAX || needed >= statistics_.reserved) return;
  device_.Refund(statistics_.reserved - needed, BudgetHolder::kPools);
  statistics_.reserved = needed;
}

MemoryPool::Statistics MemoryPool::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

void MemoryPool::set_release_threshold(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  statistics_.release_threshold = bytes;
}

void MemoryPool::ResetHighMarks(bool used, bool reserved) {
  const std::lock_guard lock(mutex_);
  if (used) statistics_.used_high = statistics_.used;
  if (reserved) statistics_.reserved_high = statistics_.reserved;
}

MemoryPool& DefaultPool(int device) {
  Device& owner = TheMachine().device(device);
  Pools& pools = AllPools();
  const std::lock_guard lock(pools.mutex);
  return pools.defaults.try_emplace(device, owner).first->second;
}

MemoryPool* PoolOfBlock(std::uint64_t address) {
  Pools& pools = AllPools();
  const std::lock_guard lock(pools.mutex);
  const auto found = pools.of_block.find(address);
  return found == pools.of_block.end() ? nullptr : found->second;
}

}  // namespace memoir::simcuda
