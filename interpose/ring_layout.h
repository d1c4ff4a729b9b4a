// Where everything lies in a ring file, and the one header struct at its start.
//
//     RingHeader | thread slots | name arena | segment headers | segments
//
// All a drainer needs is in the file. Process pointers occur only in the first line of a ThreadSlot and mean
// something only in the living process. A field that is replaced while the process may be killed is kept twice, with
// a switch that is stored last.
#ifndef INTERPOSE_RING_LAYOUT_H_
#define INTERPOSE_RING_LAYOUT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/ring.h"
#include "interpose/ring_reader.h"

namespace memoir {

inline constexpr std::uint64_t kRingMagic = 0x0a474e49524d454d;  // "MEMRING\n"
inline constexpr std::uint32_t kThreadSlots = 2048;
inline constexpr std::uint32_t kMaxNames = 32768;
inline constexpr std::size_t kNameArenaBytes = 4u << 20;
inline constexpr std::uint32_t kMaxSegments = (2u << 30) / kSegmentBytes;
inline constexpr std::size_t kMaxProcessInfo = 4000;

enum class SegmentState : std::uint32_t { kFree = 0, kOwned = 1, kFull = 2 };

// One line, so that the owner's commits disturb no neighbour.
struct alignas(64) SegmentHeader {
  std::atomic<std::uint32_t> state;  // SegmentState; stored last when taken, so a free one's other fields mean nothing
  std::uint32_t thread;
  std::uint32_t slot;
  std::atomic<std::uint32_t> committed;  // bytes
  std::uint64_t first_record;
  std::uint32_t consumed;                // bytes; the reader's
  std::atomic<std::uint32_t> next_free;  // index + 1 of the next in the free list, 0: end
  std::uint64_t consumed_records;        // the reader's
};
static_assert(sizeof(SegmentHeader) == 64);

struct RingHeader {
  // Written once; the magic last, for a file whose making was cut short is no ring.
  std::atomic<std::uint64_t> magic;
  std::uint32_t version;
  std::uint32_t segment_bytes;
  std::uint32_t segment_count;
  std::uint32_t thread_slots;
  std::uint64_t total_bytes;
  std::uint64_t pid;
  std::uint64_t start_time;     // /proc/<pid>/stat, field 22
  std::uint64_t pid_namespace;  // inode of /proc/self/ns/pid, 0: unknown
  char boot_id[40];
  char capture_folder[4096];
  char file_stem[256];

  std::atomic<std::uint32_t> process_info_switch;  // size * 2 + which of the two; 0: none yet
  std::uint8_t process_info[2][kMaxProcessInfo];
  std::atomic<std::uint32_t> clock_switch;
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

  // The pool: segment_pool.h.
  alignas(64) std::atomic<std::uint64_t> free_head;  // change count << 32 | index + 1
  std::atomic<std::uint32_t> free_count;
  std::atomic<std::uint32_t> full_count;              // left by their owners, not yet back: what a wait can hope for
  alignas(64) std::atomic<std::uint32_t> freed_word;  // futex: producers in need of a segment
  std::atomic<std::uint32_t> freed_waiters;
  std::atomic<std::uint32_t> stalled;                // a wait ended in vain and nothing was freed since
  alignas(64) std::atomic<std::uint32_t> work_word;  // futex: the reader
  std::atomic<std::uint32_t> reader_waiting;

  // Threads: thread_slots.h.
  alignas(64) std::atomic<std::uint32_t> last_thread;
  std::atomic<std::uint32_t> free_slots;
  std::atomic<std::uint32_t> retired_slots;  // of threads that are gone; the reader frees them
  std::atomic<std::uint32_t> slot_hint;

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

// The parts of one mapped (or copied) ring.
struct RingMap {
  RingHeader* header;
  ThreadSlot* slots;
  std::uint8_t* names;
  SegmentHeader* segment_headers;
  std::uint8_t* segments;
  std::uint32_t segment_count;
  std::uint32_t generation;  // of the ring in this process, as RecordingGeneration(); 0 for a file

  std::uint8_t* SegmentBytes(std::uint32_t segment) const {
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

// 64 KiB, the largest page of the machines we run on: RingClose maps other memory over single parts.
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

#endif  // INTERPOSE_RING_LAYOUT_H_
