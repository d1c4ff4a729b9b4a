#include "tests/torch/fake_cuda_allocator.h"

#include <c10/core/Allocator.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include <map>
#include <stdexcept>

// Functions of CUDA that torch's headers call; never called here.
extern "C" cudaError_t cudaMemGetInfo(std::size_t*, std::size_t*) { return cudaSuccess; }
namespace c10::cuda {
void c10_cuda_check_implementation(const std::int32_t, const char*, const char*, const std::uint32_t, const bool) {}
}  // namespace c10::cuda

namespace c10::cuda::CUDACachingAllocator {
namespace {

constexpr std::uint64_t kSegment = 0x10000000;
constexpr std::size_t kSegmentBytes = std::size_t{1} << 30;

void AllocateFake(std::uint64_t address, std::size_t bytes);
void FreeFake(std::uint64_t address);
FakeCudaAllocator fake{&AllocateFake, &FreeFake, 0, nullptr, 0, "native"};
std::map<std::uint64_t, std::size_t> live;
std::vector<AllocatorTraceTracker> trackers;

void Trace(TraceEntry::Action action, std::uint64_t address, std::size_t bytes) {
  const TraceEntry entry(action, 0, address, bytes, nullptr, {0, 0}, {});
  for (const auto& tracker : trackers) tracker(entry);
}
void Report(std::uint64_t address, std::int64_t bytes) {
  c10::reportMemoryUsageToProfiler(reinterpret_cast<void*>(address), bytes, 0, 0, {c10::DeviceType::CUDA, 0});
}

void AllocateFake(std::uint64_t address, std::size_t bytes) {
  live[address] = bytes;
  Trace(TraceEntry::ALLOC, address, bytes);
  Report(address, static_cast<std::int64_t>(bytes));
}
void FreeFake(std::uint64_t address) {
  const std::size_t bytes = live[address];
  live.erase(address);
  Trace(TraceEntry::FREE_REQUESTED, address, bytes);
  Trace(TraceEntry::FREE_COMPLETED, address, bytes);
  Report(address, -static_cast<std::int64_t>(bytes));
}

class Fake final : public CUDAAllocator {
 public:
  SnapshotInfo snapshot(MempoolId_t, bool) override {
    ++fake.snapshots;
    Trace(TraceEntry::SNAPSHOT, 0, 0);
    if (fake.during_snapshot != nullptr) fake.during_snapshot();
    if (fake.failing_snapshots > 0 && fake.failing_snapshots-- > 0) throw std::bad_alloc();
    SnapshotInfo info;
    SegmentInfo& segment = info.segments.emplace_back();
    segment.address = kSegment;
    segment.total_size = kSegmentBytes;
    segment.is_large = true;
    std::uint64_t at = kSegment;
    for (const auto& [address, bytes] : live) {
      if (address > at) segment.blocks.emplace_back().size = address - at;
      BlockInfo& block = segment.blocks.emplace_back();
      block.size = block.requested_size = bytes;
      block.allocated = block.active = true;
      at = address + bytes;
    }
    return info;
  }
  void attachAllocatorTraceTracker(AllocatorTraceTracker tracker) override { trackers.push_back(std::move(tracker)); }
  std::string name() override { return fake.name; }
  bool isEnabled() const override { return true; }
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override { return {}; }

  c10::DataPtr allocate(std::size_t) override { return {}; }
  void copy_data(void*, const void*, std::size_t) const override {}
  bool initialized() override { return true; }
  void emptyCache(MempoolId_t) override {}
  void recordStream(const DataPtr&, CUDAStream) override {}
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override {}
  void* raw_alloc(std::size_t) override { return nullptr; }
  void* raw_alloc_with_stream(std::size_t, cudaStream_t) override { return nullptr; }
  void raw_delete(void*) override {}
  void init(int) override {}
  double getMemoryFraction(c10::DeviceIndex) override { return 1; }
  void setMemoryFraction(double, c10::DeviceIndex) override {}
  std::vector<StreamSegmentSize> getExpandableSegmentSizes(c10::DeviceIndex) override { return {}; }
  void enable(bool) override {}
  void cacheInfo(c10::DeviceIndex, std::size_t*) override {}
  void* getBaseAllocation(void*, std::size_t*) override { return nullptr; }
  void beginAllocateToPool(c10::DeviceIndex, MempoolId_t, std::function<bool(cudaStream_t)>) override {}
  void endAllocateToPool(c10::DeviceIndex, MempoolId_t) override {}
  void releasePool(c10::DeviceIndex, MempoolId_t) override {}
  ShareableHandle shareIpcHandle(void*) override { return {}; }
  std::shared_ptr<void> getIpcDevPtr(std::string) override { return nullptr; }
  using Names = std::vector<std::string>;
  void recordHistory(bool, CreateContextFn, std::size_t, RecordContext, bool, const Names&) override {}
  void attachOutOfMemoryObserver(OutOfMemoryObserver) override {}
  void enablePeerAccess(c10::DeviceIndex, c10::DeviceIndex) override {}
  cudaError_t memcpyAsync(void*, int, const void*, int, std::size_t, cudaStream_t, bool) override {
    return cudaSuccess;
  }
  std::shared_ptr<AllocatorState> getCheckpointState(c10::DeviceIndex, MempoolId_t) override { return nullptr; }
  CheckpointDelta setCheckpointPoolState(c10::DeviceIndex, std::shared_ptr<AllocatorState>) override { return {}; }
};
Fake allocator_object;

}  // namespace

__attribute__((visibility("default"))) std::atomic<CUDAAllocator*> allocator{&allocator_object};

}  // namespace c10::cuda::CUDACachingAllocator

extern "C" __attribute__((visibility("default"))) FakeCudaAllocator* fake_cuda_allocator() {
  return &c10::cuda::CUDACachingAllocator::fake;
}
