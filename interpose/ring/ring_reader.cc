#include "interpose/ring/ring_reader.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "interpose/records/record_check.h"
#include "interpose/ring/name_table.h"
#include "interpose/ring/process_ring.h"
#include "interpose/ring/ring_extent_pool.h"
#include "interpose/ring/ring_growth.h"
#include "interpose/ring/ring_reader_state.h"
#include "interpose/ring/thread_slots.h"
#include "interpose/system/errno_keeper.h"
#include "interpose/system/futex.h"

namespace memoir {
namespace {

constexpr std::uint32_t Raw(SegmentState state) { return static_cast<std::uint32_t>(state); }

// Reads the extent's state before its count of committed bytes. So if the extent is full, the count is final.
bool ReadSegment(const RingMap& ring, std::uint32_t segment, RingExtentView* view) {
  const SegmentHeader& header = ring.segment_headers[segment];
  const std::uint32_t state = header.state.load(std::memory_order_acquire);
  if (state == Raw(SegmentState::kFree)) return false;
  const std::uint8_t* base = ring.ExtentBytes(segment);
  view->segment = segment;
  view->thread = header.thread;
  view->first_record = header.first_record + header.consumed_records;
  view->begin = base + header.consumed;
  view->end = base + header.committed.load(std::memory_order_acquire);
  view->full = state == Raw(SegmentState::kFull);
  return true;
}

// Orders extents by thread and age. The number of an extent does not show its age, because the pool gives out the most
// recently returned extent first.
bool Before(const ScanKey& a, const ScanKey& b) {
  return a.thread != b.thread ? a.thread < b.thread : a.first_record < b.first_record;
}

std::size_t CollectKeys(RingReader::State* state) {
  std::size_t count = 0;
  for (std::uint32_t segment = 0; segment < state->map.ExtentsInUse(); ++segment) {
    RingExtentView view;
    if (!ReadSegment(state->map, segment, &view) || view.begin == view.end) continue;
    state->keys[count++] = {view.thread, segment, view.first_record};
  }
  return count;
}

}  // namespace

RingReader::State* MakeReaderState(std::uint32_t segment_count) {
  const std::size_t keys = segment_count * sizeof(ScanKey);
  const std::size_t bytes = sizeof(RingReader::State) + keys + segment_count * sizeof(std::uint64_t);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* state = static_cast<RingReader::State*>(memory);
  state->fd = -1;
  state->state_bytes = bytes;
  state->consumed = reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::uint8_t*>(state->keys) + keys);
  return state;
}

RingReader* RingReader::OpenLive() {
  const RingMap* ring = OpenRing();
  State* state = ring == nullptr ? nullptr : MakeReaderState(ring->segment_count);
  if (state == nullptr) return nullptr;
  state->map = *ring;
  state->live = true;
  return Make(state);
}

RingReader* RingReader::OpenFile(const char* path, char* error, std::size_t error_bytes) {
  State* state = LoadRingFile(path, error, error_bytes);
  if (state == nullptr) return nullptr;
  RingReader* reader = Make(state);
  if (reader == nullptr)
    std::snprintf(error, error_bytes, "%s: no memory to read it; free some, or raise the limit (ulimit -v)", path);
  return reader;
}

RingReader* RingReader::Make(State* state) {
  if (void* memory = std::malloc(sizeof(RingReader)); memory != nullptr) return ::new (memory) RingReader(state);
  const RingReader given_back(state);
  return nullptr;
}

RingReader::RingReader(State* state) : state_(state) {}

RingReader::~RingReader() {
  if (state_->copied_bytes != 0) munmap(state_->map.header, state_->copied_bytes);
  if (state_->fd >= 0) close(state_->fd);
  munmap(state_, state_->state_bytes);
}

// NOLINTNEXTLINE(misc-new-delete-overloads): see the header
void RingReader::operator delete(void* reader) { std::free(reader); }

std::size_t RingReader::RecordBytes(const std::uint8_t* at, const std::uint8_t* end) {
  return CheckedRecordBytes(at, static_cast<std::size_t>(end - at));
}

std::size_t RingReader::Scan(RingExtentView* views, std::size_t capacity) {
  const std::size_t found = CollectKeys(state_);
  std::sort(state_->keys, state_->keys + found, Before);
  const std::size_t count = std::min(found, capacity);
  for (std::size_t index = 0; index < count; ++index) {
    const std::uint32_t segment = state_->keys[index].segment;
    ReadSegment(state_->map, segment, &views[index]);
    views[index].consumed_records = state_->live ? 0 : state_->consumed[segment];
  }
  return count;
}

// The counts of consumed records are stored in the ring, not in the reader, so that a later reader in the same process
// continues where this reader stopped.
void RingReader::Consume(const RingExtentView& view, const std::uint8_t* consumed, std::uint64_t records) {
  if (view.segment >= state_->map.segment_count || consumed < view.begin || consumed > view.end) return;
  SegmentHeader& header = state_->map.segment_headers[view.segment];
  header.consumed = static_cast<std::uint32_t>(consumed - state_->map.ExtentBytes(view.segment));
  header.consumed_records = view.first_record - header.first_record + records;
}

void RingReader::ReleaseConsumed() {
  const RingMap& ring = state_->map;
  bool freed = false;
  for (std::uint32_t segment = 0; segment < ring.ExtentsInUse(); ++segment) {
    RingExtentView view;
    if (!ReadSegment(ring, segment, &view) || !view.full || view.begin != view.end) continue;
    SegmentHeader& header = ring.segment_headers[segment];
    const std::uint32_t slot = header.slot;
    header.state.store(Raw(SegmentState::kFree), std::memory_order_release);
    if (!state_->live) continue;  // a file's pool is not used, and its list may be damaged
    ReturnExtent(ring, segment);
    ring.slots[slot].segments.fetch_sub(1, std::memory_order_release);
    freed = true;
  }
  if (!state_->live) return;
  for (std::uint32_t slot = 0; slot < kThreadSlots; ++slot) ReleaseSlotIfDone(ring, slot);
  if (freed) WakeProducers(ring);
}

bool RingReader::FindThread(std::uint32_t thread, ThreadView* view) const {
  for (std::uint32_t index = 0; index < kThreadSlots; ++index) {
    const ThreadSlot& slot = state_->map.slots[index];
    const auto state = static_cast<SlotState>(slot.state.load(std::memory_order_acquire));
    if (state != SlotState::kLive && state != SlotState::kRetired) continue;
    if (slot.thread != thread) continue;
    view->thread = thread;
    view->os_id = slot.os_id;
    view->torch_id = slot.torch_id.load(std::memory_order_relaxed);
    view->works_for = slot.works_for.load(std::memory_order_relaxed);
    std::memcpy(view->name, slot.name, sizeof view->name);
    view->name[sizeof view->name - 1] = '\0';
    view->retired = state == SlotState::kRetired;
    return true;
  }
  return false;
}

bool RingReader::FindName(std::uint32_t id, NameView* view) const { return LookUpName(state_->map, id, view); }

RingCounters RingReader::Counters() const { return ReadCounters(*state_->map.header); }
void RingReader::CountPart() const { state_->map.header->parts.fetch_add(1, std::memory_order_relaxed); }

const char* RingReader::capture_folder() const { return state_->map.header->capture_folder; }
const char* RingReader::file_stem() const { return state_->map.header->file_stem; }

const void* RingReader::process_info(std::size_t* size) const {
  const RingHeader& header = *state_->map.header;
  const std::uint32_t which = header.process_info_switch.load(std::memory_order_acquire);
  *size = which / 2 <= kMaxProcessInfo ? which / 2 : 0;
  return header.process_info[which & 1];
}

RingClock RingReader::last_clock() const {
  const RingHeader& header = *state_->map.header;
  return header.clock[header.clock_switch.load(std::memory_order_acquire) & 1];
}

void RingReader::set_last_clock(const RingClock& clock) {
  RingHeader& header = *state_->map.header;
  const std::uint32_t other = 1 - (header.clock_switch.load(std::memory_order_relaxed) & 1);
  header.clock[other] = clock;
  header.clock_switch.store(other, std::memory_order_release);
}

void RingReader::WaitForWork(std::uint64_t max_ns) {
  RingHeader& header = *state_->map.header;
  if (!state_->live) return;
  // reader_waiting is set before the word is read. So a waker that still sees 0 in reader_waiting changed the word
  // before this thread reads it.
  header.reader_waiting.store(1, std::memory_order_seq_cst);
  const std::uint32_t now = header.work_word.load(std::memory_order_seq_cst);
  if (now == state_->work_seen) FutexWait(&header.work_word, now, max_ns);
  header.reader_waiting.store(0, std::memory_order_relaxed);
  state_->work_seen = header.work_word.load(std::memory_order_seq_cst);
  GrowIfHeld(state_->map, ring_state.path);
}

void RingReader::Wake() {
  if (state_->live) WakeReader(state_->map);
}

}  // namespace memoir
