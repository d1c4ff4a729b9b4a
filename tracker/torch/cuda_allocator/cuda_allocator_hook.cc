#include "tracker/torch/cuda_allocator/cuda_allocator_hook.h"

#include <c10/core/Device.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "interpose/imports/import_slots.h"
#include "interpose/ring/ring.h"
#include "interpose/system/errno_keeper.h"
#include "interpose/system/tick.h"
#include "tracker/torch/cuda_allocator/cuda_allocator_kind.h"
#include "tracker/torch/cuda_allocator/cuda_allocator_numbers.h"
#include "tracker/torch/cuda_allocator/cuda_found_blocks.h"
#include "tracker/torch/cuda_allocator/cuda_publication.h"
#include "tracker/torch/cuda_allocator/cuda_recording_gaps.h"
#include "tracker/torch/cuda_allocator/device_records.h"
#include "tracker/torch/cuda_look.h"
#include "tracker/torch/hooks.h"

namespace memoir {

constinit std::atomic<std::uint8_t> cuda_look{0};

#ifndef MEMOIR_TORCH_HAS_CUDA

void InstallCudaAllocatorHook() {}
const char* CudaIsReady() { return nullptr; }
bool CudaIsAtDeviceLevel() { return false; }
void ForgetCudaBlocks() {}
void FindCudaBlocks() {}
void FindCudaBlocksLater() {}

#else
namespace {

using c10::cuda::CUDACachingAllocator::CUDAAllocator;
using c10::cuda::CUDACachingAllocator::TraceEntry;

constexpr int kMaxDevices = kMaxPublishedDevices;  // torch allows at most 120
constexpr char kAllocator[] = "_ZN3c104cuda20CUDACachingAllocator9allocatorE";
constexpr char kReport[] = "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE";
using Report = void (*)(void*, std::int64_t, std::size_t, std::size_t, c10::Device);

// An allocation that the trace tracker received. The report to the profiler follows, with the block's rounded bytes.
struct TracedBlock {
  std::uint64_t address = 0;
  std::uint64_t requested = 0;
  DevicePlace place{};
};

// The state of a device. Used only under torch's lock of the device.
struct alignas(64) Device {
  std::uint64_t serial = 0;
  std::uint64_t found_serial = 0;  // serial in the records of blocks that the last snapshot found
  std::uint32_t epoch = 0;         // epoch in which a snapshot found the device's blocks
  TracedBlock traced;
  DeviceNumbers numbers;  // the allocator's statistics at the last snapshot
};
constinit Device devices[kMaxDevices];

// The number of the current epoch. A new epoch begins when ForgetCudaBlocks is called, and when a snapshot fails.
// Changes of a device are recorded only after a snapshot in the current epoch has found the device's blocks.
constinit std::atomic<std::uint32_t> epoch{1};
constinit std::atomic<std::uint64_t> unknown_since{0};  // tick at which the epoch began; 0: CUDA was not ready then
constinit std::atomic<std::uint32_t> found_in{0};       // epoch in which the live blocks were found
// Id of the process in which torch made its allocators. A forked child differs from it, so CUDA is not ready there.
constinit std::atomic<pid_t> ready_in{0};
constinit std::atomic<bool> attached{false};
constinit std::atomic<bool> finding{false};
constinit std::atomic<const ThreadSlot*> finder{nullptr};  // the thread that takes a snapshot
// Number of devices that the current snapshot has visited. Only `finder` uses this variable and the next three.
constinit int devices_found = 0;
constinit bool records_found = true;                            // false: the snapshot is only for publication
constinit const std::vector<FoundMemory>* publishes = nullptr;  // published by the current snapshot; nullptr: nothing
constinit bool all_published = true;
constinit std::atomic<std::uint32_t> unfollowed{0};  // number of reports to the profiler since the open gap began
constinit std::atomic<bool> follows_reports{false};  // all import slots of the report function are redirected
constinit Report report = nullptr;
constinit std::atomic<CUDAAllocator*>* allocator_variable = nullptr;
constinit MemoryInfo memory_info = nullptr;  // cudaMemGetInfo

CUDAAllocator* Allocator() { return allocator_variable == nullptr ? nullptr : allocator_variable->load(); }

// Sets the pool of `place`. Only some versions of torch have the field `mempool_`.
template <class Entry>
void FillPool(const Entry& entry, DevicePlace& place) {
  if constexpr (requires { entry.mempool_; }) {
    place.pool_graph = static_cast<std::uint32_t>(entry.mempool_.first);
    place.pool_user = static_cast<std::uint32_t>(entry.mempool_.second);
  }
}
// Takes a snapshot of all pools ({0, 0}), without the history (false). Only some versions of torch have the parameters.
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

// Called once for each device during a snapshot, when torch reads the device's state. torch visits the devices in
// order. torch 2.11 reports "device 0" for each device, so Memoir counts the calls.
void NoteSnapshot() {
  if (finder.load(std::memory_order_relaxed) != memoir_thread_slot || memoir_thread_slot == nullptr) return;
  if (devices_found == kMaxDevices) return;
  const auto index = static_cast<c10::DeviceIndex>(devices_found++);
  if (publishes != nullptr) {
    all_published = PublishFound(index, *publishes) && all_published;
    return;
  }
  if (MayBePublished()) NotePublication(index);
  if (!records_found) return;
  Device& device = devices[index];
  device.epoch = epoch.load(std::memory_order_relaxed);
  device.found_serial = device.serial + 1;
  device.serial += 3;  // one serial for found blocks, one for their frees, one for the statistics
  device.numbers = NumbersOf(*Allocator(), index);
}

void RecordTraced(const TraceEntry& entry, Device& device) {
  const DevicePlace place = PlaceOf(entry);
  switch (entry.action_) {
    case TraceEntry::ALLOC:
      device.traced = {entry.addr_, entry.size_, place};
      return;
    case TraceEntry::FREE_REQUESTED:
      return RecordFree(RecordKind::kDeallocate, entry.addr_, ++device.serial, place);
    case TraceEntry::FREE_COMPLETED:
      return RecordFree(RecordKind::kBlockFreeCompleted, entry.addr_, ++device.serial, place);
    case TraceEntry::SEGMENT_ALLOC:
      RecordSegment(SegmentAction::kAllocate, entry.addr_, entry.size_, ++device.serial, place);
      return RecordNumbers(NumbersOf(*Allocator(), entry.device_), ++device.serial, place);
    case TraceEntry::SEGMENT_MAP:
      RecordSegment(SegmentAction::kMap, entry.addr_, entry.size_, ++device.serial, place);
      return RecordNumbers(NumbersOf(*Allocator(), entry.device_), ++device.serial, place);
    case TraceEntry::SEGMENT_FREE:
      return RecordSegment(SegmentAction::kFree, entry.addr_, entry.size_, ++device.serial, place);
    case TraceEntry::SEGMENT_UNMAP:
      return RecordSegment(SegmentAction::kUnmap, entry.addr_, entry.size_, ++device.serial, place);
    case TraceEntry::OOM:
      RecordNumbers(NumbersOf(*Allocator(), entry.device_), ++device.serial, place);
      return RecordOutOfMemory(entry.size_, entry.addr_, LimitOf(*Allocator(), entry.device_, memory_info),
                               ++device.serial, place);
    default:
      return;
  }
}

// Returns true if changes of the device are recorded now.
bool Follows(const Device& device) {
  return RecordingEnabled() && device.epoch == epoch.load(std::memory_order_relaxed);
}

void OnTrace(const TraceEntry& entry) {
  if (entry.device_ < 0 || entry.device_ >= kMaxDevices) return;
  const ErrnoKeeper errno_keeper;
  if (entry.action_ == TraceEntry::SNAPSHOT) return NoteSnapshot();
  Device& device = devices[entry.device_];
  const bool follows = Follows(device);
  if (follows) RecordTraced(entry, device);
  if (!MayBePublished()) return;
  follows ? PublishTraced(entry) : WithdrawPublication(entry.device_);
}

// Called at each report while a gap is open. At the report number 1, 2, 4, 8, ... requests another attempt to find the
// blocks, which happens when the surrounding range ends. The intervals grow, because all attempts may fail.
void RequestAnotherAttempt() {
  const std::uint32_t reports = unfollowed.fetch_add(1, std::memory_order_relaxed) + 1;
  if ((reports & (reports - 1)) == 0 && RecordingEnabled()) cuda_look.fetch_or(kAsked, std::memory_order_relaxed);
}

void NoteReport(const void* block, std::int64_t bytes, c10::Device on) {
  if (CudaGapIsOpen()) return RequestAnotherAttempt();
  if (!attached.load(std::memory_order_acquire)) {
    if (RecordingEnabled()) cuda_look.fetch_or(kBlockSeen, std::memory_order_relaxed);
    return;
  }
  if (bytes <= 0 || on.index() < 0 || on.index() >= kMaxDevices) return;
  Device& device = devices[on.index()];
  if (!Follows(device) || device.traced.address != reinterpret_cast<std::uintptr_t>(block)) return;
  const ErrnoKeeper errno_keeper;
  const TracedBlock& traced = device.traced;
  RecordBlock(RecordKind::kBlockAllocate, traced.address, static_cast<std::uint64_t>(bytes), traced.requested,
              ++device.serial, traced.place);
  if (MayBePublished())
    PublishChange(on.index(), MemoryChange::kBlockAllocated, {traced.address, static_cast<std::uint64_t>(bytes)});
  device.traced.address = 0;
}

void OnReport(void* block, std::int64_t bytes, std::size_t allocated, std::size_t reserved, c10::Device on) {
  if (on.type() == c10::DeviceType::CUDA) NoteReport(block, bytes, on);
  report(block, bytes, allocated, reserved, on);
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

// Finds the report function, and redirects the function's import slots. If this fails, later calls try again. Returns
// nullptr, or the reason.
const char* FollowReports() {
  if (follows_reports.load(std::memory_order_relaxed)) return nullptr;
  if (allocator_variable == nullptr)
    allocator_variable = static_cast<std::atomic<CUDAAllocator*>*>(const_cast<void*>(FindImported(kAllocator)));
  if (report == nullptr) report = reinterpret_cast<Report>(const_cast<void*>(FindImported(kReport)));
  if (allocator_variable == nullptr || report == nullptr)
    return "torch's CUDA allocator was not found in the libraries that are loaded";
  memory_info = reinterpret_cast<MemoryInfo>(const_cast<void*>(FindImported("cudaMemGetInfo")));
  std::size_t refused = 0, loading = 0;
  RedirectImports(kReport, reinterpret_cast<const void*>(report), reinterpret_cast<void*>(&OnReport), &refused,
                  &loading);
  follows_reports.store(refused + loading == 0, std::memory_order_relaxed);
  return refused == 0 ? nullptr : "the system refused to make an import slot of torch's CUDA library writable";
}

// Takes a snapshot, during which torch calls NoteSnapshot for each device.
auto TakeSnapshotAsFinder(CUDAAllocator& allocator) {
  devices_found = 0;
  finder.store(memoir_thread_slot, std::memory_order_relaxed);
  auto info = Snapshot(allocator);
  finder.store(nullptr, std::memory_order_relaxed);
  return info;
}

// Publishes the blocks in `info` and the changes since `info`. For this, takes another snapshot: torch then calls
// NoteSnapshot under the lock of each device, and NoteSnapshot publishes. Returns false if there were too many changes.
template <class Info>
bool PublishSnapshot(CUDAAllocator& allocator, const Info& info) {
  const std::vector<FoundMemory> found = FoundToPublish(info);
  all_published = true;
  publishes = &found;
  TakeSnapshotAsFinder(allocator);
  return all_published;
}

// Publishes the blocks in `info`. If there were too many changes since `info`, starts again with a new snapshot.
template <class Info>
void PublishBlocks(CUDAAllocator& allocator, Info info) {
  try {
    for (int tries = 0; !PublishSnapshot(allocator, info); ++tries) {
      publishes = nullptr;
      records_found = false;
      if (tries == 10) return AbandonPublication("the program allocates faster than its blocks can be published");
      info = TakeSnapshotAsFinder(allocator);
    }
  } catch (...) {
    AbandonPublication("torch failed to show the blocks that were live (its snapshot threw an exception)");
  }
}

// Attaches the trace tracker, and records the live blocks of all devices. From now on the hooks record all changes.
// Returns false if torch visited no device.
bool TakeSnapshot(CUDAAllocator& allocator) {
  if (!attached.load(std::memory_order_relaxed)) {
    allocator.attachAllocatorTraceTracker(&OnTrace);
    attached.store(true, std::memory_order_release);
  }
  const bool is_published = BeginPublication();
  const auto info = TakeSnapshotAsFinder(allocator);
  if (devices_found == 0) return false;
  for (const auto& segment : info.segments) {
    if (segment.device >= 0 && segment.device < kMaxDevices)
      RecordFoundSegment(segment, devices[segment.device].found_serial);
  }
  RecordFoundNumbers();
  if (is_published) PublishBlocks(allocator, info);
  publishes = nullptr;
  records_found = true;
  finder.store(nullptr, std::memory_order_relaxed);
  return true;
}

const char* FindOrThrow() {
  if (const char* why = FollowReports(); why != nullptr) return why;
  CUDAAllocator* allocator = Allocator();
  if (allocator == nullptr) return "torch's CUDA allocator is not made yet";
  const CudaRecording how = ChooseCudaRecording(&Allocator);
  if (how != CudaRecording::kBlocks) return how == CudaRecording::kNothing ? WhyCudaIsNotRecorded() : nullptr;
  if (RingThread() == nullptr) return "the thread that would have recorded them got no slot: more than 2,048 threads";
  return TakeSnapshot(*allocator) ? nullptr : "torch's snapshot showed no device";
}

// Finds the live blocks. Returns nullptr, or the reason why the blocks are unknown: a text that is never freed.
const char* Find() {
  try {
    return FindOrThrow();
  } catch (...) {
    finder.store(nullptr, std::memory_order_relaxed);
    return "torch failed to show the blocks that were live (its snapshot threw an exception)";
  }
}

// Finds the live blocks, unless they were found in the current epoch, and returns this epoch. If the attempt fails,
// opens a gap, begins a new epoch, and returns the new epoch.
std::uint32_t FindInEpoch() {
  const std::uint32_t now = epoch.load();
  if (found_in.load(std::memory_order_relaxed) == now) return now;
  const char* why = Find();
  if (!RecordingEnabled()) return now;  // the recording has ended
  if (why == nullptr) {
    found_in.store(now, std::memory_order_relaxed);
    CloseCudaGap(Tick());
    return now;
  }
  const std::uint64_t since = unknown_since.load(std::memory_order_relaxed);
  if (!CudaGapIsOpen()) unfollowed.store(0, std::memory_order_relaxed);
  OpenCudaGap(why, since != 0 ? since : Tick());
  // In the new epoch, no device's changes are recorded, even if the failed snapshot had already visited the device.
  std::uint32_t expected = now;
  return epoch.compare_exchange_strong(expected, now + 1) ? now + 1 : now;
}

}  // namespace

void InstallCudaAllocatorHook() {
  LookForCachingVariable();
  ForgetCudaGaps();
  FollowReports();
}

const char* CudaIsReady() {
  LookForCachingVariable();
  ready_in.store(getpid(), std::memory_order_release);
  if (RecordingEnabled()) FindCudaBlocks();
  return CudaAtDeviceLevel();
}

bool CudaIsAtDeviceLevel() { return CudaAtDeviceLevel() != nullptr; }

void ForgetCudaBlocks() {
  const bool ready = ready_in.load(std::memory_order_acquire) == getpid();
  unknown_since.store(ready ? Tick() : 0, std::memory_order_relaxed);
  epoch.fetch_add(1);
}

void FindCudaBlocksLater() { cuda_look.fetch_or(kAsked, std::memory_order_relaxed); }

void FindCudaBlocks() {
  if ((cuda_look.exchange(0) & kBlockSeen) != 0) ready_in.store(getpid(), std::memory_order_release);
  if (ready_in.load(std::memory_order_acquire) != getpid()) return;
  const ErrnoKeeper errno_keeper;
  // If another thread is already in this loop, this thread returns. The other thread sees a new epoch after its
  // attempt, because all these operations are sequentially consistent, and then finds the blocks again.
  while (!finding.exchange(true)) {
    const std::uint32_t looked_at = FindInEpoch();
    finding.store(false);
    if (epoch.load() == looked_at) return;
  }
}

#endif

}  // namespace memoir
