#include "tracker/torch/cuda_allocator_hook.h"

#include <c10/core/Device.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "interpose/import_slots.h"
#include "interpose/ring.h"
#include "tracker/torch/hooks.h"

// Where the torch of this build has no CUDA, or its headers lack NVIDIA's, there is nothing to follow.
#if __has_include(<cuda_runtime.h>) && __has_include(<c10/cuda/impl/cuda_cmake_macros.h>)
#define MEMOIR_TORCH_HAS_CUDA 1
#include <c10/cuda/CUDACachingAllocator.h>

#include "interpose/errno_keeper.h"
#include "tracker/torch/device_level_hook.h"
#include "tracker/torch/device_records.h"
#endif

namespace memoir {

constinit std::atomic<std::uint8_t> cuda_look{0};

#ifndef MEMOIR_TORCH_HAS_CUDA

void InstallCudaAllocatorHook() {}
const char* CudaIsReady() { return nullptr; }
bool CudaIsAtDeviceLevel() { return false; }
void ForgetCudaBlocks() {}
void FindCudaBlocks() {}
void FindCudaBlocksSoon() {}

#else

namespace {

using c10::cuda::CUDACachingAllocator::CUDAAllocator;
using c10::cuda::CUDACachingAllocator::TraceEntry;

constexpr int kMaxDevices = 128;  // torch's own bound is 120
constexpr char kAllocator[] = "_ZN3c104cuda20CUDACachingAllocator9allocatorE";
constexpr char kReport[] = "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE";
using MemoryInfo = int (*)(std::size_t* free, std::size_t* total);
using Report = void (*)(void*, std::int64_t, std::size_t, std::size_t, c10::Device);

// What the trace said of a block; the report that follows has the rest.
struct Announced {
  std::uint64_t address = 0;
  std::uint64_t requested = 0;
  DevicePlace place{};
};

// All under torch's lock of the device.
struct alignas(64) Device {
  std::uint64_t serial = 0;
  std::uint64_t found_serial = 0;  // of the blocks that a snapshot found
  std::uint32_t epoch = 0;         // the one in which its blocks are known
  Announced announced;
  DeviceNumbers numbers;  // at the snapshot
};
constinit Device devices[kMaxDevices];

constinit std::atomic<std::uint32_t> epoch{1};
constinit std::atomic<std::uint32_t> found_in{0};  // the epoch whose blocks were found
constinit std::atomic<pid_t> ready_in{0};  // the process in which torch made its allocators; not a forked child of it
constinit std::atomic<bool> attached{false};
constinit std::atomic<bool> finding{false};
constinit std::atomic<const ThreadSlot*> finder{nullptr};  // whose snapshot it is
constinit int devices_found = 0;                           // by it; the finder's alone
constinit char problem[256] = "";                          // why torch's allocator cannot be followed block by block
constinit std::atomic<bool> at_device_level{false};
constinit Report report = nullptr;
constinit std::atomic<CUDAAllocator*>* allocator_variable = nullptr;
constinit MemoryInfo memory_info = nullptr;  // cudaMemGetInfo

CUDAAllocator* Allocator() { return allocator_variable == nullptr ? nullptr : allocator_variable->load(); }

// Fields and parameters that came with some torch.
template <class Entry>
void FillPool(const Entry& entry, DevicePlace& place) {
  if constexpr (requires { entry.mempool_; }) {
    place.pool_graph = static_cast<std::uint32_t>(entry.mempool_.first);
    place.pool_user = static_cast<std::uint32_t>(entry.mempool_.second);
  }
}
template <class Allocator>
auto Snapshot(Allocator& allocator) {
  if constexpr (requires { allocator.snapshot({0, 0}, false); }) {
    return allocator.snapshot({0, 0}, false);
  } else {
    return allocator.snapshot();
  }
}

constexpr std::uint8_t kCuda = static_cast<std::uint8_t>(c10::DeviceType::CUDA);

DevicePlace PlaceOf(const TraceEntry& entry) {
  DevicePlace place{};
  place.stream = reinterpret_cast<std::uintptr_t>(entry.stream_);
  place.device_type = kCuda;
  place.device_index = static_cast<std::int8_t>(entry.device_);
  FillPool(entry, place);
  return place;
}

// The lock is recursive and this thread's; the call reads counters. At segments and out of memory only.
DeviceNumbers NumbersOf(c10::DeviceIndex index) {
  DeviceNumbers numbers;
  try {
    const auto stats = Allocator()->getDeviceStats(index);
    numbers.allocated = static_cast<std::uint64_t>(stats.allocated_bytes[0].current);
    numbers.active = static_cast<std::uint64_t>(stats.active_bytes[0].current);
    numbers.reserved = static_cast<std::uint64_t>(stats.reserved_bytes[0].current);
    numbers.alloc_retries = static_cast<std::uint64_t>(stats.num_alloc_retries);
    numbers.ooms = static_cast<std::uint64_t>(stats.num_ooms);
    numbers.known = true;
  } catch (...) {  // then nobody compares
  }
  return numbers;
}

// What the allocator may reserve. Only at out of memory, where torch itself has just asked the driver the same under
// its lock; the device is the current one there.
template <class Allocator>
std::uint64_t LimitOf(Allocator& allocator, c10::DeviceIndex index) {
  if constexpr (requires { allocator.getMemoryFraction(index); }) {
    std::size_t free = 0, total = 0;
    if (memory_info == nullptr || memory_info(&free, &total) != 0) return kNotKnown;
    try {
      return static_cast<std::uint64_t>(std::llround(allocator.getMemoryFraction(index) * static_cast<double>(total)));
    } catch (...) {  // then it is not known
    }
  }
  return kNotKnown;
}

// Of this thread's snapshot: what it finds is as of now. It goes through the devices one by one, and torch 2.11
// says "device 0" of each.
void NoteSnapshot() {
  if (finder.load(std::memory_order_relaxed) != memoir_thread_slot || memoir_thread_slot == nullptr) return;
  if (devices_found == kMaxDevices) return;
  const auto index = static_cast<c10::DeviceIndex>(devices_found++);
  Device& device = devices[index];
  device.epoch = epoch.load(std::memory_order_relaxed);
  device.found_serial = device.serial + 1;
  device.serial += 3;  // found, freed again, statistics
  device.numbers = NumbersOf(index);
}

void RecordTraced(const TraceEntry& entry, Device& device) {
  const DevicePlace place = PlaceOf(entry);
  switch (entry.action_) {
    case TraceEntry::ALLOC:
      device.announced = {entry.addr_, entry.size_, place};
      return;
    case TraceEntry::FREE_REQUESTED:
      return RecordFree(RecordKind::kDeallocate, entry.addr_, ++device.serial, place);
    case TraceEntry::FREE_COMPLETED:
      return RecordFree(RecordKind::kBlockFreeCompleted, entry.addr_, ++device.serial, place);
    case TraceEntry::SEGMENT_ALLOC:
      RecordSegment(SegmentAction::kAllocate, entry.addr_, entry.size_, ++device.serial, place);
      return RecordNumbers(NumbersOf(entry.device_), ++device.serial, place);
    case TraceEntry::SEGMENT_MAP:
      RecordSegment(SegmentAction::kMap, entry.addr_, entry.size_, ++device.serial, place);
      return RecordNumbers(NumbersOf(entry.device_), ++device.serial, place);
    case TraceEntry::SEGMENT_FREE:
      return RecordSegment(SegmentAction::kFree, entry.addr_, entry.size_, ++device.serial, place);
    case TraceEntry::SEGMENT_UNMAP:
      return RecordSegment(SegmentAction::kUnmap, entry.addr_, entry.size_, ++device.serial, place);
    case TraceEntry::OOM:
      RecordNumbers(NumbersOf(entry.device_), ++device.serial, place);
      return RecordOutOfMemory(entry.size_, entry.addr_, LimitOf(*Allocator(), entry.device_), ++device.serial, place);
    default:
      return;
  }
}

bool Follows(const Device& device) {
  return RecordingEnabled() && device.epoch == epoch.load(std::memory_order_relaxed);
}

void OnTrace(const TraceEntry& entry) {
  if (entry.device_ < 0 || entry.device_ >= kMaxDevices) return;
  const ErrnoKeeper errno_keeper;
  if (entry.action_ == TraceEntry::SNAPSHOT) return NoteSnapshot();
  Device& device = devices[entry.device_];
  if (Follows(device)) RecordTraced(entry, device);
}

void NoteReport(const void* block, std::int64_t bytes, c10::Device on) {
  if (!attached.load(std::memory_order_acquire)) {
    if (RecordingEnabled()) cuda_look.fetch_or(kBlockSeen, std::memory_order_relaxed);
    return;
  }
  if (bytes <= 0 || on.index() < 0 || on.index() >= kMaxDevices) return;
  Device& device = devices[on.index()];
  if (!Follows(device) || device.announced.address != reinterpret_cast<std::uintptr_t>(block)) return;
  const ErrnoKeeper errno_keeper;
  const Announced& announced = device.announced;
  RecordBlock(RecordKind::kBlockAllocate, announced.address, static_cast<std::uint64_t>(bytes), announced.requested,
              ++device.serial, announced.place);
  device.announced.address = 0;
}

void OnReport(void* block, std::int64_t bytes, std::size_t allocated, std::size_t reserved, c10::Device on) {
  if (on.type() == c10::DeviceType::CUDA) NoteReport(block, bytes, on);
  report(block, bytes, allocated, reserved, on);
}

// A small pool's segments are told by their size, so what is mapped of an expandable one comes in its steps.
void RecordFoundSegment(std::uint64_t address, std::uint64_t bytes, bool large, std::uint64_t serial,
                        const DevicePlace& place) {
  constexpr std::uint64_t kSmallStep = 2u << 20;
  const std::uint64_t step = large ? bytes : kSmallStep;
  for (std::uint64_t at = 0; at < bytes; at += step)
    RecordSegment(SegmentAction::kFound, address + at, std::min(step, bytes - at), serial, place);
}

template <class Segment>
void RecordFound(const Segment& segment) {
  if (segment.device < 0 || segment.device >= kMaxDevices) return;
  DevicePlace place{};
  place.stream = reinterpret_cast<std::uintptr_t>(segment.stream);
  place.device_type = kCuda;
  place.device_index = static_cast<std::int8_t>(segment.device);
  place.pool_graph = static_cast<std::uint32_t>(segment.owner_private_pool_id.first);
  place.pool_user = static_cast<std::uint32_t>(segment.owner_private_pool_id.second);
  const std::uint64_t serial = devices[segment.device].found_serial;
  RecordFoundSegment(segment.address, segment.total_size, segment.is_large, serial, place);
  std::uint64_t address = segment.address;
  for (const auto& block : segment.blocks) {
    if (block.active || block.allocated)
      RecordBlock(RecordKind::kBlockFound, address, block.size, block.requested_size, serial, place);
    if (block.active && !block.allocated) RecordFree(RecordKind::kDeallocate, address, serial + 1, place);
    address += block.size;
  }
}

void RecordFoundNumbers() {
  for (int i = 0; i < kMaxDevices; ++i) {
    DevicePlace place{};
    place.device_type = kCuda;
    place.device_index = static_cast<std::int8_t>(i);
    const DeviceNumbers& numbers = devices[i].numbers;
    if (numbers.known && (numbers.reserved > 0 || numbers.alloc_retries > 0 || numbers.ooms > 0))
      RecordNumbers(numbers, devices[i].found_serial + 2, place);
    devices[i].numbers.known = false;
  }
}

template <class Allocator>
bool IsEnabled(Allocator& allocator) {
  if constexpr (requires { allocator.isEnabled(); }) {
    return allocator.isEnabled();
  } else {
    return true;
  }
}

// Another allocator than torch's own, or torch's own with its cache switched off, tells nobody of its blocks. "" for
// one that does.
std::string WhyItTellsOfNone(CUDAAllocator& allocator) {
  if (const auto name = allocator.name(); name != "native") return "torch's allocator is " + std::string(name);
  const char* uncached = std::getenv("PYTORCH_NO_CUDA_MEMORY_CACHING");  // as torch asks
  return uncached == nullptr && IsEnabled(allocator) ? "" : "the cache of torch's allocator is switched off";
}

constinit bool may_tell_later = false;  // torch's own, its cache switched off by a call

// By the allocator that is recorded at device level.
bool TellsOfBlocks() {
  if (!may_tell_later) return false;
  CUDAAllocator* allocator = Allocator();
  return allocator != nullptr && IsEnabled(*allocator);
}

// Whether it is followed block by block; if not, what it is asked for is recorded, and one line says so.
bool CanBeFollowed(CUDAAllocator& allocator) {
  const std::string why = WhyItTellsOfNone(allocator);
  if (why.empty()) return true;
  may_tell_later = allocator.name() == "native" && std::getenv("PYTORCH_NO_CUDA_MEMORY_CACHING") == nullptr;
  at_device_level = InstallDeviceLevelHook(&allocator, &TellsOfBlocks);
  if (at_device_level) {
    std::snprintf(
        problem, sizeof problem,
        "CUDA memory is recorded at device level: %s, which tells of no blocks; allocations have operator and "
        "module, but there is no active and no reserved memory",
        why.c_str());
  } else {
    std::snprintf(problem, sizeof problem, "CUDA memory is not recorded: %s, which tells of no blocks", why.c_str());
  }
  return false;
}

void Find(CUDAAllocator& allocator) {
  if (!CanBeFollowed(allocator)) return;
  if (!attached.load(std::memory_order_relaxed)) {
    allocator.attachAllocatorTraceTracker(&OnTrace);
    attached.store(true, std::memory_order_release);
  }
  devices_found = 0;
  finder.store(RingThread(), std::memory_order_relaxed);
  const auto info = Snapshot(allocator);
  finder.store(nullptr, std::memory_order_relaxed);
  for (const auto& segment : info.segments) RecordFound(segment);
  RecordFoundNumbers();
}

}  // namespace

void InstallCudaAllocatorHook() {
  if (report != nullptr) return;
  allocator_variable = static_cast<std::atomic<CUDAAllocator*>*>(const_cast<void*>(FindImported(kAllocator)));
  const void* original = FindImported(kReport);
  if (allocator_variable == nullptr || original == nullptr) return;
  report = reinterpret_cast<Report>(const_cast<void*>(original));
  memory_info = reinterpret_cast<MemoryInfo>(const_cast<void*>(FindImported("cudaMemGetInfo")));
  RedirectImports(kReport, original, reinterpret_cast<void*>(&OnReport));
}

const char* CudaIsReady() {
  ready_in.store(getpid(), std::memory_order_release);
  if (RecordingEnabled()) FindCudaBlocks();
  return problem[0] == '\0' ? nullptr : problem;
}

bool CudaIsAtDeviceLevel() { return at_device_level.load(std::memory_order_relaxed); }

void ForgetCudaBlocks() { epoch.fetch_add(1, std::memory_order_acq_rel); }

void FindCudaBlocksSoon() { cuda_look.fetch_or(kAsked, std::memory_order_relaxed); }

void FindCudaBlocks() {
  CUDAAllocator* allocator = Allocator();
  if (allocator == nullptr || report == nullptr) return;
  if ((cuda_look.exchange(0) & kBlockSeen) != 0) ready_in.store(getpid(), std::memory_order_release);
  if (ready_in.load(std::memory_order_acquire) != getpid()) return;
  if (finding.exchange(true, std::memory_order_acq_rel)) return;  // another thread is at it
  const std::uint32_t now = epoch.load(std::memory_order_acquire);
  const bool known = found_in.exchange(now, std::memory_order_relaxed) == now;
  try {
    if (!known) Find(*allocator);
  } catch (...) {
    std::snprintf(problem, sizeof problem, "CUDA memory is not recorded: torch did not show its blocks");
  }
  finding.store(false, std::memory_order_release);
}

#endif

}  // namespace memoir
