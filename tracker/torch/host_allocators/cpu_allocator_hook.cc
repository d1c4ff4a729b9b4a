#include "tracker/torch/host_allocators/cpu_allocator_hook.h"

#include <c10/core/CPUAllocator.h>

#include <atomic>
#include <memory>

#include "interpose/ring/ring.h"
#include "interpose/system/own_work.h"
#include "tracker/torch/host_allocators/allocate_redirection.h"
#include "tracker/torch/host_allocators/host_records.h"

namespace memoir {
namespace {

constexpr BlockDevice kCpu{static_cast<std::uint8_t>(c10::DeviceType::CPU), -1};

constinit c10::Allocator* inner_allocator = nullptr;

// Calls `allocate` through the virtual table.
c10::DataPtr AllocateByTable(c10::Allocator* self, std::size_t bytes) { return self->allocate(bytes); }
// The original `allocate` of torch's default allocator if it is redirected; otherwise AllocateByTable.
constinit AllocateFunction inner_allocate = &AllocateByTable;
constinit std::atomic<c10::DeleterFnPtr> inner_deleter{nullptr};

void Deallocate(void* data) {
  if (data != nullptr && RecordingEnabled()) RecordDeallocate(data, kCpu);  // oneDNN also frees null pointers
  inner_deleter.load(std::memory_order_relaxed)(data);
}

// Keeps the whole DataPtr of a block until the tensor is freed. Used if the DataPtr's context is not the address of the
// data, or its deleter is not inner_deleter.
struct KeptPointer {
  c10::DataPtr inner;
};
void DeallocatePointer(void* context) {
  const std::unique_ptr<KeptPointer> kept(static_cast<KeptPointer*>(context));
  if (RecordingEnabled()) RecordDeallocate(kept->inner.get(), kCpu);
}

[[gnu::always_inline]] inline c10::DataPtr AllocateAndRecord(c10::Allocator* self, std::size_t bytes) {
  c10::DataPtr block = inner_allocate(self, bytes);
  void* data = block.get();
  if (data == nullptr || !RecordingEnabled() || memoir_own_work > 0) return block;
  const c10::Device device = block.device();
  if (block.get_context() == data && block.get_deleter() == inner_deleter.load(std::memory_order_relaxed)) [[likely]] {
    RecordAllocate(data, bytes, kCpu);
    block.release_context();
    return {data, data, &Deallocate, device};
  }
  auto kept = std::make_unique<KeptPointer>(
      std::move(block));  // make_unique precedes the record, because it may throw; `block` is then freed
  RecordAllocate(data, bytes, kCpu);
  return {data, kept.release(), &DeallocatePointer, device};
}

// The allocator that Memoir sets as torch's CPU allocator. Calls inner_allocator, and records.
class RecordingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override { return AllocateAndRecord(inner_allocator, bytes); }

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
  // Storages that Python makes (torch.UntypedStorage, copy.deepcopy) use the default allocator directly, so its
  // `allocate` is redirected as well.
  if (inner_allocator == c10::GetDefaultCPUAllocator() &&
      !RedirectAllocate(inner_allocator, &AllocateAndRecord, &inner_allocate))
    inner_allocate = &AllocateByTable;
  static auto* recording = new RecordingAllocator;  // never freed, because tensors may be freed until the process ends
  c10::SetCPUAllocator(recording, 100);
}

}  // namespace memoir
