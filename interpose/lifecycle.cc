#include "interpose/lifecycle.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>

#include "interpose/left_rings.h"
#include "interpose/process_identity.h"
#include "interpose/ring_file.h"
#include "interpose/segment_pool.h"
#include "interpose/thread_slots.h"
#include "interpose/tick.h"

namespace memoir {
namespace {

// A visit lasts microseconds, and a visitor that waits for a segment looks at the flag every 50 ms. Longer only where a
// debugger holds its thread.
constexpr std::uint64_t kMaxVisitNs = 1'000'000'000;
constinit const std::atomic<std::uint32_t> never_enabled[2]{};

}  // namespace

constinit RingState ring_state{.page = nullptr,
                               .map = {},
                               .generation = 0,
                               .range_epoch = 0,
                               .max_wait_ns = kMaxWaitNs,
                               .exit_key = 0,
                               .exit_key_made = false,
                               .file = {},
                               .path = {}};
constinit thread_local bool thread_has_left = false;

extern "C" {
constinit thread_local ThreadSlot* memoir_thread_slot = nullptr;
// Read-only memory: whoever would switch recording on without a ring must find out at once.
constinit std::atomic<std::uint32_t>* memoir_enabled_flag = const_cast<std::atomic<std::uint32_t>*>(never_enabled);
constinit bool memoir_tick_is_counter = false;
const std::uint32_t memoir_ring_layout_12 = kRingVersion;
}

namespace {

bool Fail(const char* what, char* error, std::size_t error_bytes) {
  std::snprintf(error, error_bytes, "%s", what);
  return false;
}

// In the parent, after each fork() of the program's. Only counts: other threads may hold any lock.
void OnForkInParent() {
  if (!RecordingEnabled()) return;
  const RingVisit visit;
  if (visit.ring() != nullptr) visit.ring()->header->forked_children.fetch_add(1, std::memory_order_relaxed);
}

void OnForkInChild() {
  ForkWiped* page = ring_state.page.load(std::memory_order_relaxed);
  page->enabled.store(0, std::memory_order_relaxed);
  page->range_epoch.store(0, std::memory_order_relaxed);
  page->generation.store(0, std::memory_order_relaxed);
  page->opened_here.store(0, std::memory_order_relaxed);
  page->visitors.store(0, std::memory_order_relaxed);
}

// Once per process, and kept by forked children as their own.
bool MakeForkWipedPage() {
  if (ring_state.page.load(std::memory_order_relaxed) != nullptr) return true;
  void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  auto* page = static_cast<ForkWiped*>(memory);
  ring_state.page.store(page, std::memory_order_release);
  // Kernels before 4.14 and some sandboxes lack it; then fork() is covered, _Fork() and clone() are not.
  const bool wiped = madvise(memory, 4096, MADV_WIPEONFORK) == 0;
  // Children inherit the handlers as they do the page: one that records by itself counts its own children, others none.
  pthread_atfork(nullptr, OnForkInParent, wiped ? nullptr : OnForkInChild);
  __atomic_store_n(&memoir_enabled_flag, &page->enabled, __ATOMIC_RELEASE);
  return true;
}

void MakeExitKey() {
  if (!ring_state.exit_key_made) ring_state.exit_key_made = pthread_key_create(&ring_state.exit_key, OnThreadExit) == 0;
}

// In a forked child: the parent's ring is still mapped, and a slot of it may still be remembered. Nothing may reach
// it any more.
void CoverParentsRing() {
  if (ring_state.map.header == nullptr || ring_state.file.fd < 0) return;
  const std::size_t bytes = OffsetsFor(ring_state.map.segment_count).total;
  constexpr int kAccess = PROT_READ | PROT_WRITE, kFlags = MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  // A limit on data (RLIMIT_DATA) refuses private memory alone. Shared with the child's own children it does no harm.
  if (mmap(ring_state.map.header, bytes, kAccess, kFlags | MAP_PRIVATE, -1, 0) == MAP_FAILED)
    (void)mmap(ring_state.map.header, bytes, kAccess, kFlags | MAP_SHARED, -1, 0);
  CloseKeptFile(&ring_state.file);
}

void CopyText(char* to, std::size_t bytes, const char* from) {
  std::snprintf(to, bytes, "%s", from == nullptr ? "" : from);
}

void FillHeader(RingHeader* header, const RingOptions& options, const ProcessIdentity& process,
                std::uint32_t segment_count) {
  header->version = kRingVersion;
  header->segment_bytes = kSegmentBytes;
  header->segment_count = segment_count;
  header->thread_slots = kThreadSlots;
  header->total_bytes = OffsetsFor(segment_count).total;
  header->pid = process.pid;
  header->start_time = process.start_time;
  header->pid_namespace = process.pid_namespace;
  std::memcpy(header->boot_id, process.boot_id, sizeof header->boot_id);
  CopyText(header->capture_folder, sizeof header->capture_folder, options.capture_folder);
  CopyText(header->file_stem, sizeof header->file_stem, options.file_stem);
  header->free_slots.store(kThreadSlots, std::memory_order_relaxed);
  header->magic.store(kRingMagic, std::memory_order_release);
}

// A thread that goes on with a slot it remembers then comes to RingReserveSlow, which knows better.
void ForgetSlots(const RingMap& ring) {
  for (std::uint32_t index = 0; index < kThreadSlots; ++index) {
    __atomic_store_n(&ring.slots[index].limit, nullptr, __ATOMIC_RELAXED);
  }
}

// Whether all have left.
bool WaitForVisitors(const ForkWiped& page) {
  const std::uint64_t start = MonotonicNs();
  const timespec pause{0, 50'000};
  while (page.visitors.load(std::memory_order_seq_cst) > 0) {
    if (MonotonicNs() - start >= kMaxVisitNs) return false;
    nanosleep(&pause, nullptr);
  }
  return true;
}

std::uint64_t CountUnread(const RingMap& ring) {
  std::uint64_t records = 0;
  for (std::uint32_t segment = 0; segment < ring.segment_count; ++segment) {
    const SegmentHeader& header = ring.segment_headers[segment];
    if (header.state.load(std::memory_order_acquire) == static_cast<std::uint32_t>(SegmentState::kFree)) continue;
    const std::uint8_t* at = ring.SegmentBytes(segment) + header.consumed;
    const std::uint8_t* end = ring.SegmentBytes(segment) + header.committed.load(std::memory_order_acquire);
    while (at < end) {
      const std::size_t bytes = RingReader::RecordBytes(at, end);
      if (bytes == 0) break;
      at += bytes;
      ++records;
    }
  }
  return records;
}

bool Cover(void* from, void* to) {
  const auto bytes = static_cast<std::size_t>(static_cast<std::uint8_t*>(to) - static_cast<std::uint8_t*>(from));
  return mmap(from, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) !=
         MAP_FAILED;
}

// Word by word: a late owner may be writing into its slot, and what of that is lost does not matter. Slots that were
// never used keep their copy's pages untouched.
__attribute__((no_sanitize("thread"))) void CopyUsedSlots(const RingMap& ring, void* to) {
  constexpr std::size_t kWords = sizeof(ThreadSlot) / sizeof(std::uint64_t);
  auto* copy = static_cast<std::uint64_t*>(to);
  for (std::uint32_t index = 0; index < kThreadSlots; ++index) {
    if (ring.slots[index].thread == 0) continue;
    const auto* words = reinterpret_cast<const std::uint64_t*>(&ring.slots[index]);
    for (std::size_t word = 0; word < kWords; ++word) {
      copy[index * kWords + word] = __atomic_load_n(&words[word], __ATOMIC_RELAXED);
    }
  }
}

// Gives the file's pages back: a file that was removed lives on while any of it is mapped. The addresses stay, over
// memory that is there when touched, for hooks between a reserve and its commit. Of what they read there only the slots
// matter (cursor, base, committed), so these are copied; the rest may be zero. False: some of the file stays mapped.
bool LeaveFile(const RingMap& ring) {
  constexpr std::size_t kSlotBytes = kThreadSlots * sizeof(ThreadSlot);
  if (!Cover(ring.names, ring.SegmentBytes(ring.segment_count)) || !Cover(ring.header, ring.slots)) return false;
  void* copy = mmap(nullptr, kSlotBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (copy == MAP_FAILED) return false;
  CopyUsedSlots(ring, copy);
  if (mremap(copy, kSlotBytes, kSlotBytes, MREMAP_MAYMOVE | MREMAP_FIXED, ring.slots) != MAP_FAILED) return true;
  munmap(copy, kSlotBytes);
  return false;
}

// In a forked child, once: what this thread remembers is its parent's. Then the process's threads are its own.
void TakeOverFromParent() {
  ForkWiped* page = ring_state.page.load(std::memory_order_relaxed);
  if (page->opened_here.exchange(1, std::memory_order_relaxed) != 0) return;
  ForgetLeftRings();
  if (ring_state.exit_key_made) pthread_setspecific(ring_state.exit_key, nullptr);
}

}  // namespace

RingVisit::RingVisit() : page_(ring_state.page.load(std::memory_order_acquire)) {
  if (page_ == nullptr) return;
  // Announced before the look: RingClose takes the generation away first and looks for visitors then.
  page_->visitors.fetch_add(1, std::memory_order_seq_cst);
  if (page_->generation.load(std::memory_order_seq_cst) != 0) map_ = ring_state.map;
}

RingVisit::~RingVisit() {
  if (page_ != nullptr) page_->visitors.fetch_sub(1, std::memory_order_release);
}

bool RingVisit::StillOpen() const { return page_->generation.load(std::memory_order_acquire) == map_.generation; }

const RingMap* OpenRing() {
  ForkWiped* page = ring_state.page.load(std::memory_order_acquire);
  if (page == nullptr || page->generation.load(std::memory_order_acquire) == 0) return nullptr;
  return &ring_state.map;
}

bool RingOpen(const RingOptions& options, char* error, std::size_t error_bytes) {
  if (OpenRing() != nullptr)
    return Fail("a ring is already open in this process; stop recording first", error, error_bytes);
  if (!MakeForkWipedPage()) return Fail("no memory for the enable flag's page", error, error_bytes);
  CoverParentsRing();
  LeaveRing();
  TakeOverFromParent();
  UnmapLeftRings();

  const ProcessIdentity process = OwnIdentity();
  RingFile file{};
  if (!CreateRingFile(options, process, &file, error, error_bytes)) return false;
  LockRingFile(file.kept.fd);  // where it fails, pid and start time still tell
  MakeExitKey();
  if (++ring_state.generation == 0) ring_state.generation = 1;
  ring_state.map = MapAt(file.base, file.segment_count);
  ring_state.map.generation = ring_state.generation;
  ring_state.file = file.kept;
  std::memcpy(ring_state.path, file.path, sizeof ring_state.path);
  InitPool(ring_state.map);
  FillHeader(ring_state.map.header, options, process, file.segment_count);
  ring_state.page.load(std::memory_order_relaxed)->generation.store(ring_state.generation, std::memory_order_release);
  return true;
}

std::uint64_t RingClose() {
  const RingMap* ring = OpenRing();
  if (ring == nullptr) return 0;
  SetRecordingEnabled(false);
  ForkWiped* page = ring_state.page.load(std::memory_order_relaxed);
  page->generation.store(0, std::memory_order_seq_cst);
  const bool alone = WaitForVisitors(*page);
  if (!IsGoneFrom(ring_state.file, ring_state.path)) unlink(ring_state.path);
  CloseKeptFile(&ring_state.file);
  ring_state.path[0] = '\0';
  ForgetSlots(*ring);
  const std::uint64_t unread = CountUnread(*ring);
  if (alone && LeaveFile(*ring)) KeepLeftRing(*ring);  // else rather some memory than a program
  return unread;
}

void HoldRingLock() {
  const RingMap* ring = OpenRing();
  if (ring == nullptr || IsKept(ring_state.file)) return;
  const std::size_t bytes = OffsetsFor(ring->segment_count).total;
  if (KeepOpen(&ring_state.file, ring_state.path, O_RDWR, bytes)) LockRingFile(ring_state.file.fd);
}

const char* RingPath() { return OpenRing() == nullptr ? "" : ring_state.path; }

// Ranges go off first and come on last: whoever sees them on may attach.
void SetRecordingLevel(RecordingLevel level) {
  const RingMap* ring = OpenRing();
  if (ring == nullptr) return;
  ForkWiped* page = ring_state.page.load(std::memory_order_relaxed);
  if (level != RecordingLevel::kAll) page->range_epoch.store(0, std::memory_order_release);
  page->enabled.store(level == RecordingLevel::kOff ? 0 : ring_state.generation, std::memory_order_release);
  if (level == RecordingLevel::kOff) WakeProducers(*ring);
  if (level != RecordingLevel::kAll || page->range_epoch.load(std::memory_order_relaxed) != 0) return;
  if (++ring_state.range_epoch == 0) ring_state.range_epoch = 1;
  page->range_epoch.store(ring_state.range_epoch, std::memory_order_release);
}

}  // namespace memoir
