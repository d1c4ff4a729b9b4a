#include "tracker/torch/cpu_allocator_hook.h"

#include <c10/core/CPUAllocator.h>

#include <atomic>
#include <memory>

#include "interpose/own_work.h"
#include "interpose/ring.h"
#include "tracker/torch/host_records.h"

namespace memoir {
namespace {

constexpr HostDevice kCpu{static_cast<std::uint8_t>(c10::DeviceType::CPU), -1};

constinit c10::Allocator* inner_allocator = nullptr;
constinit std::atomic<c10::DeleterFnPtr> inner_deleter{nullptr};

void Deallocate(void* data) {
  if (data != nullptr && RecordingEnabled()) RecordDeallocate(data, kCpu);  // oneDNN gives back empty blocks too
  inner_deleter.load(std::memory_order_relaxed)(data);
}

// An inner allocator whose context is not its data: its DataPtr is kept whole until the tensor goes.
struct Kept {
  c10::DataPtr inner;
};
void DeallocateKept(void* context) {
  const std::unique_ptr<Kept> kept(static_cast<Kept*>(context));
  if (RecordingEnabled()) RecordDeallocate(kept->inner.get(), kCpu);
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
      RecordAllocate(data, bytes, kCpu);
      block.release_context();
      return {data, data, &Deallocate, device};
    }
    auto kept =
        std::make_unique<Kept>(std::move(block));  // may throw: before the record, so that the block is given back
    RecordAllocate(data, bytes, kCpu);
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
