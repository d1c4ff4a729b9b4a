// Publishes the memory of torch's CUDA caching allocator (the option publish=nvtx-memory): reports its segments and
// blocks to a tool that listens to NVTX, such as compute-sanitizer (nvtx_memory.h). This file has the state of each
// device: whether its memory is published, and the changes that are not published yet.
//
//   BeginPublication ─► snapshot: NotePublication ─► changes are kept ─► snapshot: PublishFound ─► PublishChange ...
//     (no lock)           └──────────────────────────── under the lock of the device ────────────────────────────┘
//
// Two snapshots of the allocator are necessary. When torch reads a device for the first snapshot, NotePublication
// begins to keep the device's changes. When torch reads the device for the second snapshot, PublishFound publishes the
// memory that the first snapshot shows, and then the kept changes. Later changes are published at once.
//
// The tool is called under the allocator's lock of the device. So the tool receives all changes in their order, and
// each block before a kernel can use it. NVIDIA's examples also call the tool from inside of the allocator. The option
// is off by default, because the allocator waits while the tool works. Under this lock, Memoir's own code does not
// allocate and takes no lock.
//
// When recording stops, the blocks of a device stay published until the device's memory changes; then all of them are
// withdrawn. A forked child does not call the tool to withdraw the parent's blocks, because the tool's state in the
// child describes the parent.
#ifndef TRACKER_TORCH_PUBLICATION_MEMORY_PUBLICATION_H_
#define TRACKER_TORCH_PUBLICATION_MEMORY_PUBLICATION_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "tracker/torch/publication/nvtx_memory.h"

namespace memoir {

inline constexpr int kMaxPublishedDevices = 128;

enum class MemoryChange : std::uint8_t {
  kSegmentAllocated,
  kSegmentMapped,  // a part of an expandable segment was mapped
  kSegmentFreed,
  kSegmentUnmapped,  // a part of an expandable segment was unmapped
  kBlockAllocated,
  kBlockFreed,  // the free is completed: no stream uses the block any more; `bytes` is not used
};
struct PublishedChange {
  MemoryChange change;
  AddressRange range;
};

// A segment or a block that a snapshot shows. In a list, each segment precedes its blocks.
struct FoundMemory {
  int device;
  PublishedChange found;
};

// The states of all devices; nullptr until the first successful BeginPublication.
struct DevicePublication;
extern constinit std::atomic<DevicePublication*> device_publications;
inline bool MayBePublished() { return device_publications.load(std::memory_order_acquire) != nullptr; }

// Sets whether this recording publishes, and reads the name of the tool from the environment. Call it at the start of
// each recording, on the thread that starts the recording, while recording is off.
void PreparePublication(bool is_wanted);
// Loads the tool, if this recording publishes. Call it before the first snapshot, without a lock. Returns false if
// nothing will be published.
bool BeginPublication();
// Called when the publication of some devices has failed. A device that is not published yet stays unpublished in this
// recording. TakePublicationProblem returns `why`, which is copied.
void AbandonPublication(const char* why);

// Call the following functions under the allocator's lock of the device, and only if MayBePublished() is true.
//
// Withdraws the device's published memory. If this recording publishes, keeps the device's later changes for
// PublishFound.
void NotePublication(int device);
// Publishes `found`, and then the changes since NotePublication. `found` is the memory shown by the snapshot during
// which NotePublication was called. Returns false if there were too many changes; then start again with another
// snapshot and NotePublication.
bool PublishFound(int device, const std::vector<FoundMemory>& found);
// Publishes a change of the device's memory, or keeps it for PublishFound.
void PublishChange(int device, MemoryChange change, AddressRange range);
// Withdraws the device's published memory, and stops keeping or publishing changes of the device.
void WithdrawPublication(int device);

}  // namespace memoir

#endif  // TRACKER_TORCH_PUBLICATION_MEMORY_PUBLICATION_H_
