// Reads a dead process's ring file into private memory for a RingReader, and trusts nothing in the file.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <utility>

#include "interpose/records/record_check.h"
#include "interpose/ring/ring_file.h"
#include "interpose/ring/ring_reader_state.h"
#include "interpose/system/private_file.h"
#include "interpose/system/process_identity.h"

namespace memoir {
namespace {

// The buffer for the message of a failure.
struct Message {
  char* text;
  std::size_t bytes;
};

__attribute__((format(printf, 2, 3))) bool Refuse(const Message& message, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message.text, message.bytes, format, arguments);
  va_end(arguments);
  return false;
}

// Reads the file from offset `at` up to offset `bytes` into the same offsets of `to`. If the file is shorter, the rest
// stays zero.
bool ReadUpTo(int fd, std::size_t bytes, std::size_t at, std::uint8_t* to) {
  while (at < bytes) {
    const ssize_t size = pread(fd, to + at, bytes - at, static_cast<off_t>(at));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return false;
    if (size == 0) return true;
    at += static_cast<std::size_t>(size);
  }
  return true;
}

// Checks only the fields on which reading the rest depends.
bool CheckHeader(const RingHeader& header, const char* path, const Message& message) {
  if (header.magic.load(std::memory_order_relaxed) != kRingMagic) {
    return Refuse(message, "%s: not a ring file of Memoir", path);
  }
  if (header.version != kRingVersion) {
    return Refuse(message, "%s: ring version %u, this Memoir reads version %u; use the Memoir that recorded it", path,
                  header.version, kRingVersion);
  }
  const bool sound = header.segment_bytes == kSegmentBytes && header.thread_slots == kThreadSlots &&
                     header.segment_count != 0 && header.segment_count <= kMaxSegments &&
                     header.segments_in_use.load(std::memory_order_relaxed) <= header.segment_count &&
                     header.total_bytes == OffsetsFor(header.segment_count).total;
  return sound || Refuse(message, "%s: the ring's header is damaged; nothing can be recovered from it", path);
}

// False if a process still uses the ring, or if another drainer has drained it.
bool CheckUnused(const RingHeader& header, int fd, bool writable, const char* path, const Message& message) {
  ProcessIdentity process{};
  process.pid = header.pid;
  process.start_time = header.start_time;
  process.pid_namespace = header.pid_namespace;
  std::memcpy(process.boot_id, header.boot_id, sizeof process.boot_id);
  process.boot_id[sizeof process.boot_id - 1] = '\0';
  if (IsRunning(process)) {
    return Refuse(message, "%s: still in use, process %llu is running; wait for its end", path,
                  static_cast<unsigned long long>(process.pid));
  }
  if (writable && !LockRingFile(fd) && (errno == EAGAIN || errno == EACCES)) {
    Refuse(message, "%s: still in use, another process holds its lock; wait for its end", path);
    errno = EAGAIN;
    return false;
  }
  struct stat status;
  if (fstat(fd, &status) == 0 && status.st_nlink == 0) {
    // Another drainer drained the file after this process opened it and before this process locked it.
    return Refuse(message, "%s: already drained", path);
  }
  return true;
}

// Makes the extent of a dead owner readable: marks it as full and not consumed, and cuts it after its last valid
// record. Returns how many of the extent's records the dead process had consumed.
std::uint64_t MendSegment(const RingMap& ring, std::uint32_t segment) {
  SegmentHeader& header = ring.segment_headers[segment];
  const std::uint32_t state = header.state.load(std::memory_order_relaxed);
  const bool used = state == static_cast<std::uint32_t>(SegmentState::kOwned) ||
                    state == static_cast<std::uint32_t>(SegmentState::kFull);
  const std::size_t committed = std::min<std::size_t>(header.committed.load(std::memory_order_relaxed), kSegmentBytes);
  const std::size_t good = used ? CheckedRunBytes(ring.ExtentBytes(segment), committed) : 0;
  const SegmentState mended = used && header.thread != 0 ? SegmentState::kFull : SegmentState::kFree;
  header.committed.store(static_cast<std::uint32_t>(good), std::memory_order_relaxed);
  header.consumed = 0;
  header.state.store(static_cast<std::uint32_t>(mended), std::memory_order_relaxed);
  // A record has at least eight bytes, so no more than `good / 8` records can have been consumed.
  return std::min<std::uint64_t>(std::exchange(header.consumed_records, 0), good / 8);
}

void Mend(const RingReader::State& state) {
  const RingMap& ring = state.map;
  RingHeader& header = *ring.header;
  header.capture_folder[sizeof header.capture_folder - 1] = '\0';
  header.file_stem[sizeof header.file_stem - 1] = '\0';
  for (std::uint32_t segment = 0; segment < ring.ExtentsInUse(); ++segment)
    state.consumed[segment] = MendSegment(ring, segment);
}

RingReader::State* CopyRing(int fd, const RingHeader& header, const char* path, const Message& message) {
  const RingOffsets offsets = OffsetsFor(header.segment_count);
  const std::size_t bytes = offsets.total;
  const std::size_t in_use = header.segments_in_use.load(std::memory_order_relaxed);
  const std::size_t used = offsets.segments + in_use * kSegmentBytes;
  void* copy = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  RingReader::State* state = copy == MAP_FAILED ? nullptr : MakeReaderState(header.segment_count);
  if (state == nullptr) {
    if (copy != MAP_FAILED) munmap(copy, bytes);
    Refuse(message, "%s: no memory to read it, %zu bytes needed", path, bytes);
    return nullptr;
  }
  // Copies the header that was checked, because the header in the file may have changed since.
  std::memcpy(copy, static_cast<const void*>(&header), sizeof header);
  if (!ReadUpTo(fd, used, sizeof header, static_cast<std::uint8_t*>(copy))) {
    Refuse(message, "%s: %s", path, std::strerror(errno));
    munmap(copy, bytes);
    munmap(state, state->state_bytes);
    return nullptr;
  }
  state->map = MapAt(copy, header.segment_count);
  state->live = false;
  state->fd = fd;
  state->copied_bytes = bytes;
  Mend(*state);
  return state;
}

RingReader::State* LoadOpened(int fd, bool writable, const char* path, const Message& message) {
  void* memory = mmap(nullptr, sizeof(RingHeader), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    Refuse(message, "%s: no memory to read it; free some, or raise the limit (ulimit -v)", path);
    return nullptr;
  }
  const auto* header = static_cast<const RingHeader*>(memory);
  RingReader::State* state = nullptr;
  if (!ReadUpTo(fd, sizeof(RingHeader), 0, static_cast<std::uint8_t*>(memory))) {
    Refuse(message, "%s: %s", path, std::strerror(errno));
  } else if (CheckHeader(*header, path, message) && CheckUnused(*header, fd, writable, path, message)) {
    state = CopyRing(fd, *header, path, message);
  }
  munmap(memory, sizeof(RingHeader));
  return state;
}

}  // namespace

RingReader::State* LoadRingFile(const char* path, char* error, std::size_t error_bytes) {
  const Message message{error, error_bytes};
  // The lock, which keeps a second drainer out, needs a descriptor that is open for writing. Nothing is written.
  int fd = OpenPrivateFile(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  const bool writable = fd >= 0;
  if (!writable) fd = OpenPrivateFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0) {
    Refuse(message, "%s: %s", path, std::strerror(errno));
    if (fd >= 0) close(fd);
    return nullptr;
  }
  RingReader::State* state = nullptr;
  if (!S_ISREG(status.st_mode)) {
    Refuse(message, "%s: not a ring file of Memoir", path);
  } else {
    state = LoadOpened(fd, writable, path, message);
  }
  if (state == nullptr) close(fd);
  return state;
}

}  // namespace memoir
