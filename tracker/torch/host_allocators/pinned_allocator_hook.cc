#include "tracker/torch/host_allocators/pinned_allocator_hook.h"

#include "tracker/torch/torch_versions.h"

#if MEMOIR_TORCH_AT_LEAST(2, 8)

#include <ATen/core/CachingHostAllocator.h>

#include <atomic>
#include <string_view>
#include <typeinfo>

#include "interpose/ring/ring.h"
#include "interpose/system/own_work.h"
#include "tracker/torch/host_allocators/allocate_redirection.h"
#include "tracker/torch/host_allocators/host_records.h"

namespace memoir {
namespace {

constinit AllocateFunction inner_allocate = nullptr;
constinit std::atomic<c10::DeleterFnPtr> inner_deleter{nullptr};

constexpr BlockDevice kPinned{kPinnedMemory, 0};

// The type of the contexts of this allocator's blocks. The offset of `ptr_` does not depend on the type of stream.
using HostBlock = at::HostBlock<c10::Stream>;

void Deallocate(void* context) {
  if (RecordingEnabled()) RecordDeallocate(static_cast<const HostBlock*>(context)->ptr_, kPinned);
  inner_deleter.load(std::memory_order_relaxed)(context);
}

// Returns true if `deleter` is the deleter that all blocks of the allocator have, inner_deleter. The allocator has no
// function that returns this deleter, so the first call stores its argument as inner_deleter.
bool IsInner(c10::DeleterFnPtr deleter) {
  c10::DeleterFnPtr known = nullptr;
  return inner_deleter.compare_exchange_strong(known, deleter, std::memory_order_relaxed) || known == deleter;
}

c10::DataPtr AllocateAndRecord(c10::Allocator* self, std::size_t bytes) {
  c10::DataPtr block = inner_allocate(self, bytes);
  void* data = block.get();
  void* context = block.get_context();
  if (data == nullptr || context == nullptr || !RecordingEnabled() || memoir_own_work > 0) return block;
  if (!IsInner(block.get_deleter())) return block;
  if (static_cast<const HostBlock*>(context)->ptr_ != data) return block;
  RecordAllocate(data, bytes, kPinned);
  const c10::Device device = block.device();
  block.release_context();
  return {data, context, &Deallocate, device};
}

// Returns torch's allocator of page-locked memory for CUDA; nullptr if torch has no such allocator, or if its class is
// unknown.
at::HostAllocator* CudaHostAllocator() {
  try {
    at::HostAllocator* allocator = at::getHostAllocator(c10::DeviceType::CUDA);
    const bool known =
        allocator != nullptr &&
        std::string_view(typeid(*allocator).name()).find("CUDACachingHostAllocator") != std::string_view::npos;
    return known ? allocator : nullptr;
  } catch (...) {  // a torch without CUDA has no such allocator
    return nullptr;
  }
}

}  // namespace

void InstallPinnedAllocatorHook() {
  if (inner_allocate != nullptr) return;
  at::HostAllocator* allocator = CudaHostAllocator();
  if (allocator != nullptr) RedirectAllocate(allocator, &AllocateAndRecord, &inner_allocate);
}

}  // namespace memoir

#else

namespace memoir {

void InstallPinnedAllocatorHook() {}

}  // namespace memoir

#endif
