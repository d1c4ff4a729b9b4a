#include "tracker/torch/cuda_allocator/device_level_hook.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "interpose/ring/ring.h"
#include "interpose/system/own_work.h"
#include "tracker/torch/host_allocators/allocate_redirection.h"
#include "tracker/torch/host_allocators/host_records.h"

namespace memoir {
namespace {

constexpr std::size_t kMaxDevices = 64;
constexpr std::uint8_t kCuda = static_cast<std::uint8_t>(c10::DeviceType::CUDA);
constinit AllocateFunction inner_allocate = nullptr;
using ReportsBlocks = bool (*)();
constinit ReportsBlocks reports_blocks = nullptr;
constinit std::atomic<c10::DeleterFnPtr> inner_deleter{nullptr};

// A deleter receives only the address of a block, not its device. So each device has a separate deleter.
template <std::size_t kIndex>
void DeallocateOn(void* data) {
  if (RecordingEnabled()) RecordDeallocate(data, {kCuda, static_cast<std::int8_t>(kIndex)});
  inner_deleter.load(std::memory_order_relaxed)(data);
}
template <std::size_t... kIndices>
constexpr std::array<c10::DeleterFnPtr, kMaxDevices> Deleters(std::index_sequence<kIndices...>) {
  return {&DeallocateOn<kIndices>...};
}
constexpr std::array<c10::DeleterFnPtr, kMaxDevices> kDeleters = Deleters(std::make_index_sequence<kMaxDevices>());

// Returns true if `deleter` is the deleter that all blocks of the allocator have, inner_deleter. The first call stores
// its argument as inner_deleter.
bool IsInner(c10::DeleterFnPtr deleter) {
  c10::DeleterFnPtr known = nullptr;
  return inner_deleter.compare_exchange_strong(known, deleter, std::memory_order_relaxed) || known == deleter;
}

c10::DataPtr AllocateAndRecord(c10::Allocator* self, std::size_t bytes) {
  c10::DataPtr block = inner_allocate(self, bytes);
  void* data = block.get();
  if (data == nullptr || block.get_context() != data || !RecordingEnabled() || memoir_own_work > 0) return block;
  if (reports_blocks()) return block;  // unchanged, because torch identifies a cached block by its deleter
  const c10::Device device = block.device();
  // NOLINTNEXTLINE(bugprone-signed-char-misuse): an index of -1 means that there is no device
  const int index = device.index();
  if (index < 0 || static_cast<std::size_t>(index) >= kMaxDevices || !IsInner(block.get_deleter())) return block;
  RecordAllocate(data, bytes, {kCuda, static_cast<std::int8_t>(index)});
  block.release_context();
  return {data, data, kDeleters[static_cast<std::size_t>(index)], device};
}

}  // namespace

bool InstallDeviceLevelHook(c10::Allocator* allocator, bool (*reports)()) {
  reports_blocks = reports;
  return inner_allocate != nullptr || RedirectAllocate(allocator, &AllocateAndRecord, &inner_allocate);
}

}  // namespace memoir
