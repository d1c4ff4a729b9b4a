// Option publish=nvtx-memory: what the CUDA caching allocator has, published to a tool that listens to NVTX
// (nvtx_memory.h): when, on which threads, and of which device.
//
//   BeginPublication ─► snapshot: NotePublication ─► changes are kept ─► snapshot: PublishFound ─► PublishChange ...
//     (no lock)           └──────────────────────────── under the lock of the device ────────────────────────────┘
//
// The tool is called under the allocator's lock of the device: only there is what it is told in the order in which it
// happened, and a block is known before a kernel can use it. An allocator that NVIDIA's examples annotate itself calls
// it in its own functions, too. It is asked for (the option is off by default), and a tool that waits there lets the
// allocator wait. Nothing of Memoir's allocates or locks there.
//
// Recording that is off: what is published stays, and is true, until something of the device changes; then all of it
// is withdrawn. A forked child withdraws nothing: what its copy of the tool knows is of its parent.
#ifndef TRACKER_TORCH_MEMORY_PUBLICATION_H_
#define TRACKER_TORCH_MEMORY_PUBLICATION_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "tracker/torch/nvtx_memory.h"

namespace memoir {

inline constexpr int kMaxPublishedDevices = 128;

enum class MemoryChange : std::uint8_t {
  kSegmentAllocated,
  kSegmentMapped,  // a part of an expandable one
  kSegmentFreed,
  kSegmentUnmapped,
  kBlockAllocated,
  kBlockFreed,  // completed: no stream uses it any more. The bytes do not matter
};
struct PublishedChange {
  MemoryChange change;
  AddressRange range;
};

// Of a snapshot: each device's segments before their blocks.
struct FoundMemory {
  int device;
  PublishedChange found;
};

// Whether all of this is to do; nullptr until a recording that publishes has met CUDA.
struct DevicePublication;
extern constinit std::atomic<DevicePublication*> device_publications;
inline bool MayBePublished() { return device_publications.load(std::memory_order_acquire) != nullptr; }

// At the start of each recording, from its thread, while recording is off: the environment is looked at.
void PreparePublication(bool is_wanted);
// By whoever looks for the blocks that are live, before its snapshot, under no lock. False: nothing is to be published.
bool BeginPublication();
// What is not published by now stays so until the next recording. `why`: stays.
void AbandonPublication(const char* why);

// The others under the lock of the device, once MayBePublished().
void NotePublication(int device);
// What a snapshot found of it since NotePublication, in which nothing else was published, and what has changed since.
// False: too much has changed; again from NotePublication on.
bool PublishFound(int device, const std::vector<FoundMemory>& found);
void PublishChange(int device, MemoryChange change, AddressRange range);
void WithdrawPublication(int device);

}  // namespace memoir

#endif  // TRACKER_TORCH_MEMORY_PUBLICATION_H_
