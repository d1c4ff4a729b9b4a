#include "tracker/torch/publication/memory_publication.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>

#include "tracker/torch/hooks.h"
#include "tracker/torch/publication/nvtx_heaps.h"

namespace memoir {

// The published memory of one device, and its changes that are not published yet. All bytes are zero if nothing is
// published.
struct DevicePublication {
  // kNoted: NotePublication was called, so changes are kept. kPublished: PublishFound was called, so changes are
  // published.
  enum class Stage : std::uint8_t { kNone, kNoted, kPublished };
  static constexpr std::size_t kMostKept = 4096;

  Stage stage;
  bool has_overflown;  // true: there were more than kMostKept changes
  std::size_t kept_count;
  PublishedChange kept[kMostKept];  // changes since NotePublication
  NvtxHeaps memory;
};

constinit std::atomic<DevicePublication*> device_publications{nullptr};

namespace {

constinit std::atomic<bool> wanted{false};
constinit std::atomic<pid_t> owner{0};  // id of the process that mapped device_publications
constinit std::atomic<const char*> problem{nullptr};
constinit std::atomic<bool> problem_is_news{false};
// Number of blocks that could not be published since the recording began, or since TakeUnpublished last reported them.
constinit std::atomic<std::uint64_t> unpublished{0};
constinit char unpublished_line[200] = "", abandoned_line[200] = "";

void SetProblem(const char* why) {
  problem.store(why, std::memory_order_relaxed);
  problem_is_news.store(why != nullptr, std::memory_order_release);
}

DevicePublication& Of(int device) { return device_publications.load(std::memory_order_relaxed)[device]; }

// Maps memory for the state of all devices; pages that are not written use no memory. False: there is no memory.
bool MakeRoom() {
  if (MayBePublished() && owner.load(std::memory_order_relaxed) == getpid()) return true;
  constexpr std::size_t kBytes = kMaxPublishedDevices * sizeof(DevicePublication);
  void* room = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return false;
  owner.store(getpid(), std::memory_order_relaxed);
  device_publications.store(static_cast<DevicePublication*>(room), std::memory_order_release);
  return true;
}

void Apply(NvtxHeaps& memory, const PublishedChange& change) {
  switch (change.change) {
    case MemoryChange::kSegmentAllocated:
      return memory.AddSegment(change.range);
    case MemoryChange::kSegmentMapped:
      return memory.MapSegment(change.range);
    case MemoryChange::kSegmentFreed:
      return memory.RemoveSegment(change.range);
    case MemoryChange::kSegmentUnmapped:
      return memory.UnmapSegment(change.range);
    case MemoryChange::kBlockAllocated:
      return memory.AddBlock(change.range);
    case MemoryChange::kBlockFreed:
      return memory.RemoveBlock(change.range.address);
  }
}

// Publishes a change. If blocks could not be published, adds their number to the counter `unpublished`.
void Publish(DevicePublication& device, const PublishedChange& change) {
  const std::uint64_t before = device.memory.unpublished();
  Apply(device.memory, change);
  unpublished.fetch_add(device.memory.unpublished() - before, std::memory_order_relaxed);
}

}  // namespace

void PreparePublication(bool is_wanted) {
  wanted.store(is_wanted, std::memory_order_release);
  unpublished.store(0, std::memory_order_relaxed);
  SetProblem(is_wanted ? ListenerProblem() : nullptr);
}

const char* TakePublicationProblem() {
  return problem_is_news.exchange(false, std::memory_order_acquire) ? problem.load(std::memory_order_relaxed) : nullptr;
}

const char* TakeUnpublished() {
  const std::uint64_t count = unpublished.exchange(0, std::memory_order_relaxed);
  if (count == 0) return nullptr;
  std::snprintf(unpublished_line, sizeof unpublished_line,
                "publish=nvtx-memory: %llu blocks were not published: more than %zu were live on a device, or the tool "
                "refused their segment",
                static_cast<unsigned long long>(count), NvtxHeaps::kMostRegions);
  return unpublished_line;
}

bool BeginPublication() {
  if (!wanted.load(std::memory_order_acquire) || problem.load(std::memory_order_relaxed) != nullptr) return false;
  if (const char* why = ListenToMemory(); why != nullptr) {
    SetProblem(why);
    return false;
  }
  if (MakeRoom()) return true;
  SetProblem("publish=nvtx-memory: no memory for the list of published blocks; nothing is published");
  return false;
}

void AbandonPublication(const char* why) {
  std::snprintf(abandoned_line, sizeof abandoned_line, "publish=nvtx-memory: not every device is published: %s", why);
  SetProblem(abandoned_line);
}

void NotePublication(int device) {
  WithdrawPublication(device);
  if (!wanted.load(std::memory_order_relaxed)) return;
  DevicePublication& own = Of(device);
  own.stage = DevicePublication::Stage::kNoted;
  own.has_overflown = false;
  own.kept_count = 0;
}

bool PublishFound(int device, const std::vector<FoundMemory>& found) {
  DevicePublication& own = Of(device);
  if (own.stage != DevicePublication::Stage::kNoted) return true;
  if (own.has_overflown) return false;
  own.stage = DevicePublication::Stage::kPublished;
  for (const FoundMemory& one : found) {
    if (one.device == device) Publish(own, one.found);
  }
  for (std::size_t i = 0; i < own.kept_count; ++i) Publish(own, own.kept[i]);
  return true;
}

void PublishChange(int device, MemoryChange change, AddressRange range) {
  DevicePublication& own = Of(device);
  if (own.stage == DevicePublication::Stage::kPublished) return Publish(own, {change, range});
  if (own.stage == DevicePublication::Stage::kNone || own.has_overflown) return;
  own.has_overflown = own.kept_count == DevicePublication::kMostKept;
  if (!own.has_overflown) own.kept[own.kept_count++] = {change, range};
}

void WithdrawPublication(int device) {
  DevicePublication& own = Of(device);
  if (own.stage == DevicePublication::Stage::kNone) return;
  own.stage = DevicePublication::Stage::kNone;
  if (owner.load(std::memory_order_relaxed) == getpid()) return own.memory.Withdraw();
  own.memory.Forget();
}

}  // namespace memoir
