#include "tracker/torch/cpu_allocator_hook.h"

#include <c10/core/CPUAllocator.h>

#include <array>
#include <atomic>
#include <memory>

#include "interpose/errno_keeper.h"
#include "interpose/own_work.h"
#include "interpose/ring.h"
#include "interpose/tick.h"
#include "tracker/torch/torch_thread.h"

namespace memoir {
namespace {

struct alignas(64) Shard {
  std::atomic<std::uint64_t> next;
};
constinit std::array<Shard, 64> shards{};

// One counter per address shard: all that matters is the order on one address.
std::uint64_t NextSerial(std::uint64_t address) {
  const std::uint64_t mixed = (address >> 6) * 0x9e3779b97f4a7c15u;
  return shards[mixed >> 58].next.fetch_add(1, std::memory_order_relaxed) + 1;
}

constexpr std::uint8_t kCpu = static_cast<std::uint8_t>(c10::DeviceType::CPU);

void RecordAllocate(void* data, std::size_t bytes) {
  const ErrnoKeeper errno_keeper;
  const auto address = reinterpret_cast<std::uint64_t>(data);
  const std::uint64_t serial = NextSerial(address);
  ThreadSlot* slot = TorchThread();
  // Under no lock of torch's, so this may wait for room as an operator's begin may.
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
                             .device_type = kCpu,
                             .device_index = -1,
                             .reserved0 = 0,
                             .reserved1 = 0};
  RingCommit(slot, sizeof(AllocateRecord));
}

void RecordDeallocate(void* data) {
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
                               .device_type = kCpu,
                               .device_index = -1,
                               .reserved0 = 0,
                               .reserved1 = 0};
  RingCommit(slot, sizeof(DeallocateRecord));
}

constinit c10::Allocator* inner_allocator = nullptr;
constinit std::atomic<c10::DeleterFnPtr> inner_deleter{nullptr};

void Deallocate(void* data) {
  if (data != nullptr && RecordingEnabled()) RecordDeallocate(data);  // oneDNN gives back empty blocks too
  inner_deleter.load(std::memory_order_relaxed)(data);
}

// An inner allocator whose context is not its data: its DataPtr is kept whole until the tensor goes.
struct Kept {
  c10::DataPtr inner;
};
void DeallocateKept(void* context) {
  const std::unique_ptr<Kept> kept(static_cast<Kept*>(context));
  if (RecordingEnabled()) RecordDeallocate(kept->inner.get());
}

class RecordingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    c10::DataPtr block = inner_allocator->allocate(bytes);
    void* data = block.get();
    if (data == nullptr || !RecordingEnabled() || memoir_own_work > 0) return block;
    const c10::Device device = block.device();
    if (block.get_context() == data && block.get_deleter() == inner_deleter.load(std::memory_order_relaxed))
        [[likely]] {
      RecordAllocate(data, bytes);
      block.release_context();
      return {data, data, &Deallocate, device};
    }
    auto kept =
        std::make_unique<Kept>(std::move(block));  // may throw: before the record, so that the block is given back
    RecordAllocate(data, bytes);
    return {data, kept.release(), &DeallocateKept, device};
  }

  c10::DeleterFnPtr raw_deleter() const override {
    return inner_deleter.load(std::memory_order_relaxed) == nullptr ? nullptr : &Deallocate;
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    inner_allocator->copy_data(to, from, bytes);
  }
};

}  // namespace

void InstallCpuAllocatorHook() {
  inner_allocator = c10::GetCPUAllocator();
  inner_deleter.store(inner_allocator->raw_deleter(), std::memory_order_relaxed);
  static auto* recording = new RecordingAllocator;  // leaked: tensors are freed until the very end
  c10::SetCPUAllocator(recording, 100);
}

}  // namespace memoir
