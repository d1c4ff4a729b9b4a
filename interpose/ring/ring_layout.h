// The layout of a ring file: the offsets of its sections, and the header struct at its start.
//
//     RingHeader | thread slots | name arena | extent headers | extents
//
// The file contains all that memoir-drain needs. Pointers occur only in the first 64 bytes of a ThreadSlot, and are
// valid only in the living process. The process may be killed while it replaces a field of several words (process_info,
// clock). So each such field exists twice, and the last store sets the switch that selects the valid copy.
#ifndef INTERPOSE_RING_RING_LAYOUT_H_
#define INTERPOSE_RING_RING_LAYOUT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/ring/ring.h"

namespace memoir {

inline constexpr std::uint64_t kRingMagic = 0x0a474e49524d454d;  // "MEMRING\n"
inline constexpr std::uint32_t kThreadSlots = 2048;
inline constexpr std::uint32_t kMaxNames = 32768;
inline constexpr std::size_t kNameArenaBytes = 4u << 20;
inline constexpr std::uint32_t kMaxSegments = (2u << 30) / kSegmentBytes;
inline constexpr std::size_t kMaxProcessInfo = 4000;

enum class SegmentState : std::uint32_t { kFree = 0, kOwned = 1, kFull = 2 };

// The header of one extent. It fills one cache line, so that the commits of the extent's owner do not slow down the
// owners of other extents.
struct alignas(64) SegmentHeader {
  // SegmentState. A thread that takes the extent stores this field last. While the state is kFree, only next_free is
  // valid.
  std::atomic<std::uint32_t> state;
  std::uint32_t thread;
  std::uint32_t slot;
  std::atomic<std::uint32_t> committed;  // bytes of committed records
  std::uint64_t first_record;            // index of the extent's first record, on its thread
  std::uint32_t consumed;                // bytes of consumed records; written by the reader
  std::atomic<std::uint32_t> next_free;  // index + 1 of the next extent in the free list; 0: end
  std::uint64_t consumed_records;        // written by the reader
};
static_assert(sizeof(SegmentHeader) == 64);

struct RingHeader {
  // Written once, the magic number last: a file whose creation was interrupted has no magic number and is not a ring.
  std::atomic<std::uint64_t> magic;
  std::uint32_t version;
  std::uint32_t segment_bytes;
  std::uint32_t segment_count;  // all extents, including those not yet in use (ring_growth.h)
  std::uint32_t thread_slots;
  std::uint64_t total_bytes;
  std::uint64_t pid;
  std::uint64_t start_time;     // /proc/<pid>/stat, field 22
  std::uint64_t pid_namespace;  // inode of /proc/self/ns/pid, 0: unknown
  char boot_id[40];
  char capture_folder[4096];
  char file_stem[256];

  std::atomic<std::uint32_t> process_info_switch;  // size * 2 + index of the valid copy; 0: none yet
  std::uint8_t process_info[2][kMaxProcessInfo];
  std::atomic<std::uint32_t> clock_switch;  // index of the valid clock
  RingClock clock[2];

  alignas(64) std::atomic<std::uint64_t> dropped_records;
  std::atomic<std::uint64_t> dropped_allocated_bytes;
  std::atomic<std::uint64_t> waits;
  std::atomic<std::uint64_t> wait_ns;
  std::atomic<std::uint64_t> slotless_records;
  std::atomic<std::uint64_t> forked_children;
  std::atomic<std::uint64_t> parts;  // counted by the reader
  std::atomic<std::uint64_t> cut_stacks;
  std::atomic<std::uint64_t> unread_stacks;
  std::atomic<std::uint64_t> deep_calls;

  // Growth: ring_growth.h.
  alignas(64) std::atomic<std::uint32_t> segments_in_use;
  std::atomic<std::uint32_t> may_grow;  // 0: an attempt to grow failed, so the ring will not grow any more

  // The pool: ring_extent_pool.h.
  alignas(64) std::atomic<std::uint64_t> free_head;  // change count << 32 | index + 1
  std::atomic<std::uint32_t> free_count;
  std::atomic<std::uint32_t> full_count;  // extents that their owners left and the reader has not yet returned
  alignas(64) std::atomic<std::uint32_t> freed_word;  // futex on which producers wait for an extent
  std::atomic<std::uint32_t> freed_waiters;
  std::atomic<std::uint32_t> stalled;                // 1: a wait timed out and no extent was freed since
  alignas(64) std::atomic<std::uint32_t> work_word;  // futex on which the reader waits
  std::atomic<std::uint32_t> reader_waiting;

  // Threads: thread_slots.h.
  alignas(64) std::atomic<std::uint32_t> last_thread;  // number of the thread that claimed a slot last
  std::atomic<std::uint32_t> free_slots;
  std::atomic<std::uint32_t> retired_slots;  // slots of ended threads; the reader frees them
  std::atomic<std::uint32_t> slot_hint;      // slot at which the next search for a free slot begins

  // Names: name_table.h.
  alignas(64) std::atomic<std::uint32_t> name_lock;
  std::atomic<std::uint32_t> name_count;
  std::uint32_t name_bytes;
  std::uint32_t name_offsets[kMaxNames];
};

inline RingCounters ReadCounters(const RingHeader& header) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  RingCounters counters{};
  counters.dropped_records = header.dropped_records.load(kRelaxed);
  counters.dropped_allocated_bytes = header.dropped_allocated_bytes.load(kRelaxed);
  counters.waits = header.waits.load(kRelaxed);
  counters.wait_ns = header.wait_ns.load(kRelaxed);
  counters.slotless_records = header.slotless_records.load(kRelaxed);
  counters.forked_children = header.forked_children.load(kRelaxed);
  counters.parts = header.parts.load(kRelaxed);
  counters.cut_stacks = header.cut_stacks.load(kRelaxed);
  counters.unread_stacks = header.unread_stacks.load(kRelaxed);
  counters.deep_calls = header.deep_calls.load(kRelaxed);
  return counters;
}

// Pointers to the sections of one mapped (or copied) ring.
struct RingMap {
  RingHeader* header;
  ThreadSlot* slots;
  std::uint8_t* names;
  SegmentHeader* segment_headers;
  std::uint8_t* segments;
  std::uint32_t segment_count;  // all extents, including those not yet in use (ring_growth.h)
  std::uint32_t generation;     // as RecordingGeneration() returns it; 0 for a file

  // The number of extents in use: those with the lowest numbers.
  std::uint32_t ExtentsInUse() const { return header->segments_in_use.load(std::memory_order_acquire); }
  std::uint8_t* ExtentBytes(std::uint32_t segment) const {
    return segments + static_cast<std::size_t>(segment) * kSegmentBytes;
  }
};

struct RingOffsets {
  std::size_t slots;
  std::size_t names;
  std::size_t segment_headers;
  std::size_t segments;
  std::size_t total;
};

// Rounds up to 64 KiB, the largest page size of supported machines, because RingClose maps other memory over some
// sections of the ring.
constexpr std::size_t RoundUpToPage(std::size_t bytes) { return (bytes + 0xffff) & ~std::size_t{0xffff}; }

constexpr RingOffsets OffsetsFor(std::uint32_t segment_count) {
  RingOffsets offsets{};
  offsets.slots = RoundUpToPage(sizeof(RingHeader));
  offsets.names = offsets.slots + kThreadSlots * sizeof(ThreadSlot);
  offsets.segment_headers = offsets.names + kNameArenaBytes;
  offsets.segments = RoundUpToPage(offsets.segment_headers + segment_count * sizeof(SegmentHeader));
  offsets.total = offsets.segments + static_cast<std::size_t>(segment_count) * kSegmentBytes;
  return offsets;
}

inline RingMap MapAt(void* base, std::uint32_t segment_count) {
  auto* bytes = static_cast<std::uint8_t*>(base);
  const RingOffsets offsets = OffsetsFor(segment_count);
  RingMap map{};
  map.header = reinterpret_cast<RingHeader*>(bytes);
  map.slots = reinterpret_cast<ThreadSlot*>(bytes + offsets.slots);
  map.names = bytes + offsets.names;
  map.segment_headers = reinterpret_cast<SegmentHeader*>(bytes + offsets.segment_headers);
  map.segments = bytes + offsets.segments;
  map.segment_count = segment_count;
  return map;
}

}  // namespace memoir

#endif  // INTERPOSE_RING_RING_LAYOUT_H_
