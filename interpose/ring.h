// The event ring: a bounded pool of segments in one pre-faulted, file-backed shared mapping, into which threads
// record.
//
//     thread A ──► segment 7 ──┐                          free ◄─────────────┐
//     thread B ──► segment 2 ──┼─► full ─► writer thread ─► chunk in the file ┘  (segments return only after the write)
//     thread C ──► segment 9 ──┘
//
// Each thread owns one segment at a time and is its only producer; a full one is swapped by pointer. The file
// outlives the process, so what was committed is recovered after SIGKILL (ring_reader.h). One ring per process. libc
// only.
//
// Threads: everything here may be called from any thread unless it says otherwise. Nothing allocates, throws, or
// takes a lock that another thread could hold while it waits, except Open and Close, which belong to the thread that
// starts and stops recording.
#ifndef INTERPOSE_RING_H_
#define INTERPOSE_RING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/export.h"
#include "interpose/ring_record.h"

namespace memoir {

inline constexpr std::size_t kSegmentBytes = 32 * 1024;
// All segments together; the rest of 64 MiB is the writer's.
inline constexpr std::size_t kDefaultRingBytes = 32u << 20;
inline constexpr std::size_t kMinRingBytes = 2u << 20;

// Lies in the ring's shared memory; one for each thread that records now. The first line is the owner's alone.
struct alignas(64) ThreadSlot {
  std::uint8_t* cursor;                   // next free byte of the owned segment
  std::uint8_t* limit;                    // its end; cursor == limit == nullptr: owns none
  std::atomic<std::uint32_t>* committed;  // the owned segment's committed byte count
  std::uint8_t* base;                     // its first byte
  std::uint64_t next_record;              // index of this thread's next record; dropped records count too
  std::uint16_t depth;                    // open ranges; kept by whoever records ranges. Read it through RingDepth
  std::uint16_t exit_passes;              // how often this thread's exit has asked to retire the slot
  std::uint32_t segment;                  // number of the owned segment, kNoSegment: none
  std::uint64_t scratch;                  // a mapping of the tracker's; 0 in a new ring, kept for the next thread
  std::uint32_t generation;               // of the ring it belongs to; see RingThread
  std::uint32_t range_epoch;              // what `depth` counts in; see RingDepth

  alignas(64) std::atomic<std::uint32_t> state;  // SlotState
  std::uint32_t thread;                          // number from 1, never reused in this process
  std::uint64_t os_id;
  std::atomic<std::uint64_t> torch_id;
  char name[16];
  std::atomic<std::uint32_t> segments;   // of this thread, not yet back in the pool
  std::atomic<std::uint32_t> works_for;  // number of the thread in whose parallel region it works; 0: in none
  std::atomic<std::uint32_t> left;       // the thread has another slot, or has ended: it is at no address of this
  std::uint32_t scratch_bytes;           // of the mapping that `scratch` is the address of
  std::uint32_t stack_is_known;          // the owner's: its segment has a Stack record, without a drop behind it
};
static_assert(sizeof(ThreadSlot) == 128);
inline constexpr std::uint32_t kNoSegment = 0xffffffffu;
enum class SlotState : std::uint32_t { kFree = 0, kLive = 1, kRetired = 2, kClaimed = 3 };

// Counted since Open, shown by every view.
struct RingCounters {
  std::uint64_t dropped_records;
  std::uint64_t dropped_allocated_bytes;
  std::uint64_t waits;
  std::uint64_t wait_ns;
  std::uint64_t slotless_records;  // of dropped_records: of threads that got no slot, all were taken
  // Made by fork() while recording was on, whether or not they went on to exec. vfork, posix_spawn, _Fork and clone
  // call no handlers: their children are not counted.
  std::uint64_t forked_children;
  std::uint64_t parts;          // of the capture, that the writer began after the first
  std::uint64_t cut_stacks;     // Python stacks whose outermost frames were left out
  std::uint64_t unread_stacks;  // that were not as they can be, and not recorded
  std::uint64_t deep_calls;     // of Python functions, not recorded: too many were open around them
};

enum class OnEmptyPool : std::uint8_t {
  // Bounded (5 s in all per stall, 20 ms while threads hold all segments) and counted; then drop. Never under an
  // allocator's lock.
  kWait,
  kDrop,  // drop at once, counted: for callbacks of device allocators, which run under the device's lock. No hook yet
};

struct RingOptions {
  const char* folder;          // nullptr: MEMOIR_RING_DIR, else /dev/shm where there is room, else TMPDIR, else /tmp
  std::size_t bytes;           // of all segments; shrunk, down to kMinRingBytes, where the folder has less room
  const char* capture_folder;  // absolute; noted for memoir-drain
  const char* file_stem;       // "r00000.a0.host.pid"
};

// Creates the ring file and maps it. On failure returns false and writes one line (cause and fix) into `error`.
MEMOIR_INTERPOSE_API bool RingOpen(const RingOptions& options, char* error, std::size_t error_bytes);
// Removes the file and gives its memory back, but keeps the addresses: late hooks may still hold pointers. They are
// given back by a later RingOpen, once each thread that recorded has recorded in another ring, or has ended. Waits (at
// most a second) for threads that are inside RingAttachThread or RingReserveSlow. Call only after the enable flag is
// off, all is drained, and the reader is gone. A later RingOpen begins anew: thread numbers, operator ids and counters
// start over. Returns how many records were committed and never consumed: what hooks that saw the flag on committed
// after the last look, or all that a reader which gave up has left. They are lost, and in no counter.
MEMOIR_INTERPOSE_API std::uint64_t RingClose();
// Path of the ring file, "" when there is none.
MEMOIR_INTERPOSE_API const char* RingPath();

// Encoded ProcessInfo, kept in the ring so that memoir-drain can open a part without the dead process. At most 4,000
// bytes; more is ignored. May be called again when more is known, by one thread at a time.
MEMOIR_INTERPOSE_API void RingSetProcessInfo(const void* bytes, std::size_t size);

// The calling thread's slot, made at its first call; nullptr when recording is off, or when slots ran out (counted as
// a drop). A thread keeps a segment from its first record to its end, so at most as many threads record at once as
// there are segments (1,024 in the default ring); the records of others are dropped until one of those ends or fills
// its segment.
MEMOIR_INTERPOSE_API ThreadSlot* RingAttachThread();

// Room for a record of `bytes` (a multiple of 8, at most kMaxRecordBytes) in the calling thread's segment, or
// nullptr: dropped and counted.
MEMOIR_INTERPOSE_API std::uint8_t* RingReserveSlow(ThreadSlot* slot, std::size_t bytes, OnEmptyPool on_empty);
inline std::uint8_t* RingReserve(ThreadSlot* slot, std::size_t bytes, OnEmptyPool on_empty) {
  // Signed: RingClose sets the limits of slots that are left behind to nullptr. As numbers: both may be it.
  const auto limit = reinterpret_cast<std::uintptr_t>(__atomic_load_n(&slot->limit, __ATOMIC_RELAXED));
  const std::uintptr_t room = limit - reinterpret_cast<std::uintptr_t>(slot->cursor);
  if (static_cast<std::ptrdiff_t>(room) >= static_cast<std::ptrdiff_t>(bytes)) [[likely]]
    return slot->cursor;
  return RingReserveSlow(slot, bytes, on_empty);
}
// Publishes the record written at the place that RingReserve returned.
inline void RingCommit(ThreadSlot* slot, std::size_t bytes) {
  slot->cursor += bytes;
  slot->next_record += 1;
  slot->committed->store(static_cast<std::uint32_t>(slot->cursor - slot->base), std::memory_order_release);
}

// Counts one record of the calling thread that its hook cannot make (ranges nested too deeply): the index goes on, so
// that the capture shows a gap in this place. Takes 8 bytes of the segment; a gap between segments would take the rest
// of one.
MEMOIR_INTERPOSE_API void RingDropRecord(ThreadSlot* slot);

// Defines an operator once and for all; ids start at 1 and index the ring's name table, which memoir-drain can read.
// `written` has one byte per argument. Returns 0 when the table is full: record the name inline then.
// `schema` may go on with lines of its own for the schemas of all operators of its name.
MEMOIR_INTERPOSE_API std::uint32_t RingDefineOperator(const char* name, const char* schema, const std::uint8_t* written,
                                                      std::size_t arguments);

// Defines a module, as RingDefineOperator does an operator. Texts over kMaxInlineName bytes are cut.
MEMOIR_INTERPOSE_API std::uint32_t RingDefineModule(const char* root, const char* path, const char* class_name);

// Defines Python code: the file of a code object and its qualified name, as it has them. Cut likewise.
MEMOIR_INTERPOSE_API std::uint32_t RingDefineCode(const char* file, const char* function);

MEMOIR_INTERPOSE_API RingCounters RingReadCounters();
MEMOIR_INTERPOSE_API void RingCountDroppedAllocation(std::uint64_t bytes);
// Of RingCounters cut_stacks, unread_stacks, deep_calls.
enum class StackLoss : std::uint8_t { kCut, kUnread, kDeepCall };
MEMOIR_INTERPOSE_API void RingCountStack(StackLoss loss);

// The thread's slot without attaching: nullptr before its first record. After RingClose, and in a forked child, it
// still names a slot of the ring that was: take it through RingThread.
extern "C" MEMOIR_INTERPOSE_THREAD_LOCAL ThreadSlot* memoir_thread_slot;

// Two words, of which every hook reads one first. On a page that fork wipes, so a child finds them 0 and does nothing
// (also after _Fork and clone).
//   [0] hooks on memory: the ring's generation while they record, else 0.
//   [1] hooks on ranges (and modules): the epoch of ranges while they record, else 0. Another one each time that
//       ranges are switched on: what was open before is not known to be open still.
// Acquired, for whoever sees one on must see what was prepared before (the tick's source, the tracker's tables). On
// x86-64 that is the same load.
extern "C" MEMOIR_INTERPOSE_API std::atomic<std::uint32_t>* memoir_enabled_flag;
inline std::uint32_t RecordingGeneration() {
  return __atomic_load_n(&memoir_enabled_flag, __ATOMIC_RELAXED)->load(std::memory_order_acquire);
}
inline bool RecordingEnabled() { return RecordingGeneration() != 0; }
inline std::uint32_t RangeEpoch() {
  return __atomic_load_n(&memoir_enabled_flag, __ATOMIC_RELAXED)[1].load(std::memory_order_acquire);
}
// Does nothing without an open ring. Switching off also ends every producer's wait. Writes no record: that is the
// caller's (kPause, kResume).
MEMOIR_INTERPOSE_API void SetRecordingLevel(RecordingLevel level);
inline void SetRecordingEnabled(bool enabled) {
  SetRecordingLevel(enabled ? RecordingLevel::kAll : RecordingLevel::kOff);
}

// For RecordHeader::depth: ranges that were open when ranges went off count no more.
inline std::uint16_t RingDepth(const ThreadSlot* slot) { return slot->range_epoch == RangeEpoch() ? slot->depth : 0; }

// There is one for each layout of records and ring: a tracker that was built for another layout finds no such symbol,
// and does not load into a process that has this interposer.
extern "C" MEMOIR_INTERPOSE_API const std::uint32_t memoir_ring_layout_12;

// The calling thread's slot in the ring that is open now; attaches when there is none, or only one of an earlier ring.
inline ThreadSlot* RingThread() {
  ThreadSlot* slot = memoir_thread_slot;
  if (slot != nullptr && slot->generation == RecordingGeneration()) [[likely]]
    return slot;
  return RingAttachThread();
}

}  // namespace memoir

#endif  // INTERPOSE_RING_H_
