// The event ring: a pool of ring extents in one shared, file-backed mapping, into which the program's threads write
// records. Names in the code call a ring extent a segment (kSegmentBytes, SegmentHeader).
//
//     thread A ──► extent 7 ───┐                          free ◄─────────────┐
//     thread B ──► extent 2 ───┼─► full ─► writer thread ─► chunk in the file ┘  (extents return only after the write)
//     thread C ──► extent 9 ───┘
//
// Each thread owns one extent at a time, and only the owner writes to an extent. A thread exchanges a full extent for a
// free one. The file outlives the process, so committed records are recovered after SIGKILL (ring_reader.h). One ring
// per process. This code needs no library except libc.
//
// Any thread may call any function here, unless its comment says otherwise. RingOpen and RingClose belong to the thread
// that starts and stops recording. All other functions never allocate or throw. The only lock that they take is held
// while one name is copied into the ring.
#ifndef INTERPOSE_RING_RING_H_
#define INTERPOSE_RING_RING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/records/ring_record.h"
#include "interpose/system/export.h"

namespace memoir {

inline constexpr std::size_t kSegmentBytes = 32 * 1024;
// Bytes of all extents of a ring by default. The rest of Memoir's budget of 64 MiB belongs to the writer.
inline constexpr std::size_t kDefaultRingBytes = 32u << 20;
inline constexpr std::size_t kMinRingBytes = 2u << 20;

// The state of one recording thread, in the ring's shared memory. Only the owning thread uses the first 64 bytes,
// except that RingClose sets `limit` to nullptr.
struct alignas(64) ThreadSlot {
  std::uint8_t* cursor;                   // next free byte of the owned extent; nullptr without an extent
  std::uint8_t* limit;                    // end of the owned extent; nullptr without an extent
  std::atomic<std::uint32_t>* committed;  // committed bytes of the owned extent
  std::uint8_t* base;                     // first byte of the owned extent
  std::uint64_t next_record;              // index of this thread's next record; dropped records have indices as well
  std::uint16_t depth;                    // open ranges, counted by the range hooks; read it through RingDepth
  std::uint16_t exit_passes;              // how often the thread's exit handler has run for this slot
  std::uint32_t segment;                  // number of the owned extent; kNoSegment without an extent
  std::uint64_t scratch;                  // address of memory that the tracker maps for the slot's threads; 0: not yet
  std::uint32_t generation;               // generation of the slot's ring; see RingThread
  std::uint32_t range_epoch;              // the epoch in which `depth` is valid; see RingDepth

  alignas(64) std::atomic<std::uint32_t> state;  // SlotState
  std::uint32_t thread;                          // number from 1, never reused in this ring
  std::uint64_t os_id;
  std::atomic<std::uint64_t> torch_id;
  char name[16];
  std::atomic<std::uint32_t> segments;   // extents of this thread that are not yet back in the pool
  std::atomic<std::uint32_t> works_for;  // number of the thread in whose parallel region this thread works; 0: none
  std::atomic<std::uint32_t> left;       // 1: the thread ended or moved to another slot; it never touches this one
  std::uint32_t scratch_bytes;           // bytes of the mapping at `scratch`
  std::uint32_t stack_is_known;          // 1: the extent has a Stack record and no dropped record after it
};
static_assert(sizeof(ThreadSlot) == 128);
inline constexpr std::uint32_t kNoSegment = 0xffffffffu;
enum class SlotState : std::uint32_t { kFree = 0, kLive = 1, kRetired = 2, kClaimed = 3 };

// Counters since RingOpen.
struct RingCounters {
  std::uint64_t dropped_records;
  std::uint64_t dropped_allocated_bytes;  // bytes of blocks whose allocation is among the dropped records
  std::uint64_t waits;                    // how often a thread waited for a free extent
  std::uint64_t wait_ns;                  // nanoseconds of all these waits together
  std::uint64_t slotless_records;         // those dropped records for whose thread no slot was free
  // Children made by fork() while recording was on, whether or not they called exec afterwards. vfork, posix_spawn,
  // _Fork and clone call no fork handlers, so their children are not counted.
  std::uint64_t forked_children;
  std::uint64_t parts;          // parts that the writer began after the first
  std::uint64_t cut_stacks;     // Python stacks recorded without their outermost frames
  std::uint64_t unread_stacks;  // Python stacks that were inconsistent, and so not recorded
  std::uint64_t deep_calls;     // Python calls that are not recorded, because they are nested too deeply
};

// Three clocks, read as close together in time as possible.
struct RingClock {
  std::uint64_t tick;
  std::uint64_t monotonic_ns;
  std::uint64_t realtime_ns;
};

// A defined name, as the reader returns it.
struct NameView {
  std::uint32_t id;
  bool is_module;
  bool is_code;
  const char* text;  // the name, not terminated; module: path; code: function
  std::size_t text_bytes;
  const char* schema;  // module: class; code: file
  std::size_t schema_bytes;
  const std::uint8_t* written;  // one byte per argument; module: text of the root's name
  std::size_t arguments;
};

// The action of a producer if the pool has no free extent for a record.
enum class OnEmptyPool : std::uint8_t {
  // Waits for an extent: at most 5 s, or 20 ms if threads hold all extents. Drops the record if no extent becomes free
  // in this time, and drops further records at once until an extent is free. Waits and drops are counted. Must not be
  // used under an allocator's lock.
  kWait,
  // Drops the record at once, and counts the drop. For hooks that run under an allocator's lock.
  kDrop,
};

struct RingOptions {
  const char* folder;          // nullptr: MEMOIR_RING_DIR, else /dev/shm if it has room, else TMPDIR, else /tmp
  std::size_t bytes;           // bytes of all extents; reduced, down to kMinRingBytes, if the folder lacks room
                               // 0: kDefaultRingBytes; the ring then grows if many threads record (ring_growth.h)
  const char* capture_folder;  // absolute path, for memoir-drain
  const char* file_stem;       // beginning of the names of the recording's files: "r00000.a0.host.pid"
};

// Creates the ring file and maps it. On failure returns false and writes one line (cause and fix) into `error`.
MEMOIR_INTERPOSE_API bool RingOpen(const RingOptions& options, char* error, std::size_t error_bytes);
// Closes the ring: removes the file and frees its memory. The addresses stay mapped, because hooks that still run may
// hold pointers; a later RingOpen unmaps them once each thread that recorded has recorded in another ring or has ended.
// Waits for at most one second for threads inside a RingVisit.
//
// Call it only after the enable flag is off, all records are consumed, and the reader is destroyed. In a later ring,
// thread numbers, operator ids and counters start anew. Returns how many records were committed and never consumed.
// These records are lost and no counter contains them. Either the reader failed before it consumed them, or they were
// committed after the reader's last scan, by hooks that had started while the flag was on.
MEMOIR_INTERPOSE_API std::uint64_t RingClose();
// Returns the path of the ring file. "" without a ring.
MEMOIR_INTERPOSE_API const char* RingPath();

// Stores an encoded ProcessInfo in the ring, so that memoir-drain can begin a part without the dead process. Ignored if
// it is longer than 4,000 bytes. May be called again with more information, by one thread at a time.
MEMOIR_INTERPOSE_API void RingSetProcessInfo(const void* bytes, std::size_t size);

// Returns the calling thread's slot. The thread's first call claims a slot. nullptr if recording is off. Also nullptr
// if no slot is free, or if the thread is exiting and has given up its slot; this is counted as a dropped record. A
// thread holds an extent from its first record until the thread ends. So the number of extents (1,024 in the default
// ring, more once it has grown) limits how many threads record at once; records of further threads are dropped until a
// thread ends or fills its extent.
MEMOIR_INTERPOSE_API ThreadSlot* RingAttachThread();

// The part of RingReserve that runs if the record does not fit into the thread's extent: takes another extent.
MEMOIR_INTERPOSE_API std::uint8_t* RingReserveSlow(ThreadSlot* slot, std::size_t bytes, OnEmptyPool on_empty);
// Returns room for a record of `bytes` (a multiple of 8, at most kMaxRecordBytes) in the calling thread's extent.
// nullptr if the record is dropped; the drop is counted.
inline std::uint8_t* RingReserve(ThreadSlot* slot, std::size_t bytes, OnEmptyPool on_empty) {
  // The difference is signed, because RingClose sets the limit of every slot to nullptr. The pointers are subtracted as
  // integers, because both may be nullptr.
  const auto limit = reinterpret_cast<std::uintptr_t>(__atomic_load_n(&slot->limit, __ATOMIC_RELAXED));
  const std::uintptr_t room = limit - reinterpret_cast<std::uintptr_t>(slot->cursor);
  if (static_cast<std::ptrdiff_t>(room) >= static_cast<std::ptrdiff_t>(bytes)) [[likely]]
    return slot->cursor;
  return RingReserveSlow(slot, bytes, on_empty);
}
// Publishes the record that was written at the place that RingReserve returned.
inline void RingCommit(ThreadSlot* slot, std::size_t bytes) {
  slot->cursor += bytes;
  slot->next_record += 1;
  slot->committed->store(static_cast<std::uint32_t>(slot->cursor - slot->base), std::memory_order_release);
}

// Counts one record that a hook of the calling thread cannot write (ranges nested too deeply). The record's index is
// skipped, so the capture shows a gap here. Writes 8 bytes into the extent to mark the gap. If the index were skipped
// between two extents instead, the rest of the current extent would be wasted.
MEMOIR_INTERPOSE_API void RingDropRecord(ThreadSlot* slot);

// Defines an operator and returns its id, from 1, in the ring's name table, which memoir-drain can read. `written` has
// one byte per argument: 1 if the operator writes to the argument. `schema` may have further lines with the schemas of
// all operators with the same name. Returns 0 if the table is full; then the caller records the name inline.
MEMOIR_INTERPOSE_API std::uint32_t RingDefineOperator(const char* name, const char* schema, const std::uint8_t* written,
                                                      std::size_t arguments);

// Defines a module like RingDefineOperator. Texts are cut to kMaxInlineName bytes.
MEMOIR_INTERPOSE_API std::uint32_t RingDefineModule(const char* root, const char* path, const char* class_name);

// Defines Python code by its code object's file and qualified name. Texts are cut to kMaxInlineName bytes.
MEMOIR_INTERPOSE_API std::uint32_t RingDefineCode(const char* file, const char* function);

MEMOIR_INTERPOSE_API RingCounters RingReadCounters();
// Adds `bytes` to RingCounters::dropped_allocated_bytes.
MEMOIR_INTERPOSE_API void RingCountDroppedAllocation(std::uint64_t bytes);
// Selects the counter to increment: cut_stacks, unread_stacks or deep_calls of RingCounters.
enum class StackLoss : std::uint8_t { kCut, kUnread, kDeepCall };
MEMOIR_INTERPOSE_API void RingCountStack(StackLoss loss);

// The thread's slot; nullptr before its first record. After RingClose, and in a forked child, it still points to a slot
// of the closed ring, so use RingThread instead.
extern "C" MEMOIR_INTERPOSE_THREAD_LOCAL ThreadSlot* memoir_thread_slot;

// Two words on a page that the kernel zeroes in forked children. Every hook reads one of them first. So in a child
// (also after _Fork and clone) all hooks do nothing.
//   [0] for hooks on memory: the ring's generation while they record, else 0.
//   [1] for hooks on ranges and modules: the epoch of ranges while they record, else 0. The epoch changes each time
//       that ranges are switched on, because ranges that were open before may have ended unseen.
// Hooks read a word with acquire order: a hook that sees it non-zero also sees what was prepared before (the tick's
// source, the tracker's tables). On x86-64 this is an ordinary load.
extern "C" MEMOIR_INTERPOSE_API std::atomic<std::uint32_t>* memoir_enabled_flag;
inline std::uint32_t RecordingGeneration() {
  return __atomic_load_n(&memoir_enabled_flag, __ATOMIC_RELAXED)->load(std::memory_order_acquire);
}
inline bool RecordingEnabled() { return RecordingGeneration() != 0; }
inline std::uint32_t RangeEpoch() {
  return __atomic_load_n(&memoir_enabled_flag, __ATOMIC_RELAXED)[1].load(std::memory_order_acquire);
}
// Sets how much is recorded. Does nothing without an open ring. Switching off also ends every producer's wait. Writes
// no record: the caller writes kPause or kResume.
MEMOIR_INTERPOSE_API void SetRecordingLevel(RecordingLevel level);
inline void SetRecordingEnabled(bool enabled) {
  SetRecordingLevel(enabled ? RecordingLevel::kAll : RecordingLevel::kOff);
}

// Returns the value for RecordHeader::depth. Ranges that were open when ranges were switched off are excluded.
inline std::uint16_t RingDepth(const ThreadSlot* slot) { return slot->range_epoch == RangeEpoch() ? slot->depth : 0; }

// The name of this symbol contains the version of the layout of records and ring. A tracker that was built for another
// layout does not find its symbol, and so does not load into a process that has this interposer.
extern "C" MEMOIR_INTERPOSE_API const std::uint32_t memoir_ring_layout_13;

// Returns the calling thread's slot in the open ring. Claims a slot if the thread has no slot in this ring. nullptr as
// for RingAttachThread.
inline ThreadSlot* RingThread() {
  ThreadSlot* slot = memoir_thread_slot;
  if (slot != nullptr && slot->generation == RecordingGeneration()) [[likely]]
    return slot;
  return RingAttachThread();
}

}  // namespace memoir

#endif  // INTERPOSE_RING_RING_H_
