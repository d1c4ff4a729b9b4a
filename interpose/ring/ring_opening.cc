// Opens and closes the ring of this process, and switches recording on and off.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>

#include "interpose/ring/closed_rings.h"
#include "interpose/ring/process_ring.h"
#include "interpose/ring/ring.h"
#include "interpose/ring/ring_extent_pool.h"
#include "interpose/ring/ring_file.h"
#include "interpose/ring/ring_reader.h"
#include "interpose/ring/thread_slots.h"
#include "interpose/system/own_files.h"
#include "interpose/system/private_file.h"
#include "interpose/system/process_identity.h"
#include "interpose/system/tick.h"

namespace memoir {
namespace {

// The longest wait for threads inside a RingVisit. A visit lasts microseconds. If its thread waits for an extent, the
// visit ends within 50 ms, because the thread reads the enable flag at this interval. A visit lasts longer than
// kMaxVisitNs only if a debugger stops its thread.
constexpr std::uint64_t kMaxVisitNs = 1'000'000'000;

bool Fail(const char* what, char* error, std::size_t error_bytes) {
  std::snprintf(error, error_bytes, "%s", what);
  return false;
}

// Runs in the parent after each fork() of the program. Increments a counter and takes no lock, because other threads
// may hold any lock.
void OnForkInParent() {
  if (!RecordingEnabled()) return;
  const RingVisit visit;
  if (visit.ring() != nullptr) visit.ring()->header->forked_children.fetch_add(1, std::memory_order_relaxed);
}

void OnForkInChild() {
  ForkWipedPage* page = ring_state.page.load(std::memory_order_relaxed);
  page->enabled.store(0, std::memory_order_relaxed);
  page->range_epoch.store(0, std::memory_order_relaxed);
  page->generation.store(0, std::memory_order_relaxed);
  page->opened_here.store(0, std::memory_order_relaxed);
  page->visitors.store(0, std::memory_order_relaxed);
}

// Creates the page once per process. Forked children inherit it and use it as their own.
bool MakeForkWipedPage() {
  if (ring_state.page.load(std::memory_order_relaxed) != nullptr) return true;
  void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  auto* page = static_cast<ForkWipedPage*>(memory);
  ring_state.page.store(page, std::memory_order_release);
  // Kernels before 4.14 and some sandboxes lack MADV_WIPEONFORK. On these, OnForkInChild clears the page after fork(),
  // but nothing clears it after _Fork() and clone().
  const bool wiped = madvise(memory, 4096, MADV_WIPEONFORK) == 0;
  // Children inherit the handlers with the page. So if a child records, its own children are also counted.
  pthread_atfork(nullptr, OnForkInParent, wiped ? nullptr : OnForkInChild);
  __atomic_store_n(&memoir_enabled_flag, &page->enabled, __ATOMIC_RELEASE);
  return true;
}

void MakeExitKey() {
  if (!ring_state.exit_key_made) ring_state.exit_key_made = pthread_key_create(&ring_state.exit_key, OnThreadExit) == 0;
}

// In a forked child whose parent had a ring: the parent's ring is still mapped, and a thread may still hold the address
// of a slot. Maps other memory over the ring, so that nothing reaches the parent's ring any more.
void CoverParentsRing() {
  if (ring_state.path[0] == '\0') return;
  const std::size_t bytes = OffsetsFor(ring_state.map.segment_count).total;
  constexpr int kAccess = PROT_READ | PROT_WRITE, kFlags = MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  // RLIMIT_DATA may refuse private memory, but not shared memory. Sharing this memory with the child's own children
  // does no harm.
  if (mmap(ring_state.map.header, bytes, kAccess, kFlags | MAP_PRIVATE, -1, 0) == MAP_FAILED)
    (void)mmap(ring_state.map.header, bytes, kAccess, kFlags | MAP_SHARED, -1, 0);
  ring_state.path[0] = '\0';
}

void CopyText(char* to, std::size_t bytes, const char* from) {
  std::snprintf(to, bytes, "%s", from == nullptr ? "" : from);
}

void FillHeader(RingHeader* header, const RingOptions& options, const ProcessIdentity& process, const RingFile& file) {
  header->version = kRingVersion;
  header->segment_bytes = kSegmentBytes;
  header->segment_count = file.segment_count;
  header->thread_slots = kThreadSlots;
  header->total_bytes = OffsetsFor(file.segment_count).total;
  header->pid = process.pid;
  header->start_time = process.start_time;
  header->pid_namespace = process.pid_namespace;
  std::memcpy(header->boot_id, process.boot_id, sizeof header->boot_id);
  CopyText(header->capture_folder, sizeof header->capture_folder, options.capture_folder);
  CopyText(header->file_stem, sizeof header->file_stem, options.file_stem);
  header->free_slots.store(kThreadSlots, std::memory_order_relaxed);
  header->segments_in_use.store(file.segments_in_use, std::memory_order_relaxed);
  header->may_grow.store(1, std::memory_order_relaxed);
  header->magic.store(kRingMagic, std::memory_order_release);
}

// Sets the limit of every slot to nullptr. So a thread that still uses a slot of this ring calls RingReserveSlow, which
// notices that the ring is closed.
void ForgetSlots(const RingMap& ring) {
  for (std::uint32_t index = 0; index < kThreadSlots; ++index) {
    __atomic_store_n(&ring.slots[index].limit, nullptr, __ATOMIC_RELAXED);
  }
}

// Waits until no thread is inside a RingVisit. False after kMaxVisitNs.
bool WaitForVisitors(const ForkWipedPage& page) {
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
  for (std::uint32_t segment = 0; segment < ring.ExtentsInUse(); ++segment) {
    const SegmentHeader& header = ring.segment_headers[segment];
    if (header.state.load(std::memory_order_acquire) == static_cast<std::uint32_t>(SegmentState::kFree)) continue;
    const std::uint8_t* at = ring.ExtentBytes(segment) + header.consumed;
    const std::uint8_t* end = ring.ExtentBytes(segment) + header.committed.load(std::memory_order_acquire);
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

// Copies word by word, because a thread may still be writing into its slot; such writes may be lost. Skips slots that
// were never used, so that their pages in the copy stay untouched.
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

// Frees the file's pages, because a removed file exists as long as any of it is mapped. The addresses stay mapped, to
// private memory, for hooks between RingReserve and RingCommit. These hooks read only the slots (cursor, base,
// committed), so the slots are copied; the rest may be zero. False if some of the file stays mapped.
bool LeaveFile(const RingMap& ring) {
  constexpr std::size_t kSlotBytes = kThreadSlots * sizeof(ThreadSlot);
  if (!Cover(ring.names, ring.ExtentBytes(ring.segment_count)) || !Cover(ring.header, ring.slots)) return false;
  void* copy = mmap(nullptr, kSlotBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (copy == MAP_FAILED) return false;
  CopyUsedSlots(ring, copy);
  if (mremap(copy, kSlotBytes, kSlotBytes, MREMAP_MAYMOVE | MREMAP_FIXED, ring.slots) != MAP_FAILED) return true;
  munmap(copy, kSlotBytes);
  return false;
}

// The first call in a forked child forgets this thread's slot and the closed rings, which belong to the parent. From
// then on the ring state belongs to the child.
void TakeOverFromParent() {
  ForkWipedPage* page = ring_state.page.load(std::memory_order_relaxed);
  if (page->opened_here.exchange(1, std::memory_order_relaxed) != 0) return;
  ForgetClosedRings();
  if (ring_state.exit_key_made) pthread_setspecific(ring_state.exit_key, nullptr);
}

bool CreateLocked(const RingOptions& options, ProcessIdentity* process, RingFile* file, char* error,
                  std::size_t error_bytes) {
  bool created = false;
  InOwnFiles([&] {
    *process = OwnIdentity();
    created = CreateRingFile(options, *process, file, error, error_bytes);
    if (created) LockRingFile(file->fd);  // if locking fails, pid and start time still show whether the process runs
  });
  return created;
}

void RemoveFile() {
  InOwnFiles([] {
    if (!IsGoneFrom(ring_state.fd, ring_state.path)) unlink(ring_state.path);
    close(ring_state.fd);
  });
  ring_state.fd = -1;
  ring_state.path[0] = '\0';
  ReleaseOwnFiles();
}

}  // namespace

bool RingOpen(const RingOptions& options, char* error, std::size_t error_bytes) {
  if (OpenRing() != nullptr)
    return Fail("a ring is already open in this process; stop recording first", error, error_bytes);
  if (!MakeForkWipedPage()) return Fail("no memory for the enable flag's page", error, error_bytes);
  CoverParentsRing();
  LeaveRing();
  TakeOverFromParent();
  UnmapClosedRings();

  ProcessIdentity process{};
  RingFile file{};
  KeepOwnFiles();
  if (!CreateLocked(options, &process, &file, error, error_bytes)) {
    ReleaseOwnFiles();
    return false;
  }
  MakeExitKey();
  if (++ring_state.generation == 0) ring_state.generation = 1;
  ring_state.map = MapAt(file.base, file.segment_count);
  ring_state.map.generation = ring_state.generation;
  ring_state.fd = file.fd;
  std::memcpy(ring_state.path, file.path, sizeof ring_state.path);
  FillHeader(ring_state.map.header, options, process, file);
  AddExtents(ring_state.map, 0, file.segments_in_use);
  ring_state.page.load(std::memory_order_relaxed)->generation.store(ring_state.generation, std::memory_order_release);
  return true;
}

std::uint64_t RingClose() {
  const RingMap* ring = OpenRing();
  if (ring == nullptr) return 0;
  SetRecordingEnabled(false);
  ForkWipedPage* page = ring_state.page.load(std::memory_order_relaxed);
  page->generation.store(0, std::memory_order_seq_cst);
  const bool alone = WaitForVisitors(*page);
  RemoveFile();
  ForgetSlots(*ring);
  const std::uint64_t unread = CountUnread(*ring);
  // If a thread is still inside a RingVisit, the memory is leaked, because unmapping it could crash the program.
  if (alone && LeaveFile(*ring)) KeepClosedRing(*ring);
  return unread;
}

const char* RingPath() { return OpenRing() == nullptr ? "" : ring_state.path; }

// Ranges are switched off first and switched on last. As soon as a thread sees that ranges are on, it may attach to the
// ring, which requires that `enabled` is set.
void SetRecordingLevel(RecordingLevel level) {
  const RingMap* ring = OpenRing();
  if (ring == nullptr) return;
  ForkWipedPage* page = ring_state.page.load(std::memory_order_relaxed);
  if (level != RecordingLevel::kAll) page->range_epoch.store(0, std::memory_order_release);
  page->enabled.store(level == RecordingLevel::kOff ? 0 : ring_state.generation, std::memory_order_release);
  if (level == RecordingLevel::kOff) WakeProducers(*ring);
  if (level != RecordingLevel::kAll || page->range_epoch.load(std::memory_order_relaxed) != 0) return;
  if (++ring_state.range_epoch == 0) ring_state.range_epoch = 1;
  page->range_epoch.store(ring_state.range_epoch, std::memory_order_release);
}

}  // namespace memoir
