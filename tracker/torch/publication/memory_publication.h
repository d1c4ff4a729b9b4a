// The option publish=nvtx-memory: publishes the memory of torch's CUDA caching allocator, that is, reports its segments
// and blocks to a tool that listens to NVTX, such as compute-sanitizer (nvtx_memory.h). The functions of this file
// decide when they publish, on which threads, and for which device.
//
//   BeginPublication ─► snapshot: NotePublication ─► changes are kept ─► snapshot: PublishFound ─► PublishChange ...
//     (no lock)           └──────────────────────────── under the lock of the device ────────────────────────────┘
//
// The tool is called under the allocator's lock of the device. So the tool receives all changes in their order, and
// each block before a kernel can use it. NVIDIA's examples also call the tool from inside of the allocator. The option
// is off by default, because the allocator waits while the tool works. Under this lock, Memoir's own code does not
// allocate and takes no lock.
//
// When recording is off, published blocks stay until the device's memory changes; then all of them are withdrawn. A
// forked child withdraws nothing, because the tool's state in the child describes the parent.
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
  kSegmentMapped,  // a part of an expandable segment
  kSegmentFreed,
  kSegmentUnmapped,
  kBlockAllocated,
  kBlockFreed,  // the free is completed: no stream uses the block any more; `bytes` is not used
};
struct PublishedChange {
  MemoryChange change;
  AddressRange range;
};

// Memory that a snapshot shows. In a list, the segments of each device precede their blocks.
struct FoundMemory {
  int device;
  PublishedChange found;
};

// The states of all devices; nullptr until a recording that publishes has found CUDA.
struct DevicePublication;
extern constinit std::atomic<DevicePublication*> device_publications;
inline bool MayBePublished() { return device_publications.load(std::memory_order_acquire) != nullptr; }

// Reads the environment. Call it at the start of each recording, on the thread that starts the recording, while
// recording is off.
void PreparePublication(bool is_wanted);
// Call it before the snapshot of live blocks, without a lock. False if nothing is to be published.
bool BeginPublication();
// Ends publication for this recording: blocks that are not published yet stay unpublished. `why`: the reason, which is
// copied.
void AbandonPublication(const char* why);

// Call the following functions under the allocator's lock of the device, and only if MayBePublished() is true.
//
// Withdraws the device's published memory. If publication is on, keeps the changes from now on for PublishFound.
void NotePublication(int device);
// Publishes `found`, and then the changes since NotePublication. `found` is the memory shown by the snapshot during
// which NotePublication was called. False if there were too many changes; then start again with NotePublication.
bool PublishFound(int device, const std::vector<FoundMemory>& found);
void PublishChange(int device, MemoryChange change, AddressRange range);
void WithdrawPublication(int device);

}  // namespace memoir

#endif  // TRACKER_TORCH_PUBLICATION_MEMORY_PUBLICATION_H_
