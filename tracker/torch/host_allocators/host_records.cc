#include "tracker/torch/host_allocators/host_records.h"

#include <array>
#include <atomic>
#include <new>

#include "interpose/ring/ring.h"
#include "interpose/system/errno_keeper.h"
#include "interpose/system/tick.h"
#include "tracker/repeated_steps/repeated_steps.h"
#include "tracker/stacks/stack_recorder.h"
#include "tracker/torch/ranges/torch_thread.h"

namespace memoir {
namespace {

struct alignas(64) Shard {
  std::atomic<std::uint64_t> next;
};
constinit std::array<Shard, 64> shards{};

// Takes the next serial for `address`. The addresses are distributed over 64 counters, so that threads seldom wait for
// each other. One counter for all is not necessary, because serials order only the events of one address.
std::uint64_t NextSerial(std::uint64_t address) {
  const std::uint64_t mixed = (address >> 6) * 0x9e3779b97f4a7c15u;
  return shards[mixed >> 58].next.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

void RecordAllocate(void* data, std::size_t bytes, BlockDevice device) {
  const ErrnoKeeper errno_keeper;
  const auto address = reinterpret_cast<std::uint64_t>(data);
  const std::uint64_t serial = NextSerial(address);
  ThreadSlot* slot = TorchThread();
  if (slot != nullptr && StepsAreFollowed()) repeated_steps::FollowHostBlock(slot->thread, device.type, bytes);
  if (slot != nullptr) RecordStack(slot, sizeof(AllocateRecord), OnEmptyPool::kWait);
  std::uint8_t* place = slot == nullptr ? nullptr : RingReserve(slot, sizeof(AllocateRecord), OnEmptyPool::kWait);
  if (place == nullptr) return RingCountDroppedAllocation(bytes);
  new (place) AllocateRecord{.header = {.words = sizeof(AllocateRecord) / 8,
                                        .kind = RecordKind::kAllocate,
                                        .flags = 0,
                                        .depth = RingDepth(slot),
                                        .count = 0},
                             .tick = Tick(),
                             .address = address,
                             .bytes = bytes,
                             .serial = serial,
                             .device_type = device.type,
                             .device_index = device.index,
                             .reserved0 = 0,
                             .reserved1 = 0};
  RingCommit(slot, sizeof(AllocateRecord));
}

void RecordDeallocate(void* data, BlockDevice device) {
  const ErrnoKeeper errno_keeper;
  const auto address = reinterpret_cast<std::uint64_t>(data);
  const std::uint64_t serial = NextSerial(address);
  ThreadSlot* slot = RingThread();
  std::uint8_t* place = slot == nullptr ? nullptr : RingReserve(slot, sizeof(DeallocateRecord), OnEmptyPool::kWait);
  if (place == nullptr) return;
  new (place) DeallocateRecord{.header = {.words = sizeof(DeallocateRecord) / 8,
                                          .kind = RecordKind::kDeallocate,
                                          .flags = 0,
                                          .depth = RingDepth(slot),
                                          .count = 0},
                               .tick = Tick(),
                               .address = address,
                               .serial = serial,
                               .device_type = device.type,
                               .device_index = device.index,
                               .reserved0 = 0,
                               .reserved1 = 0};
  RingCommit(slot, sizeof(DeallocateRecord));
}

}  // namespace memoir
