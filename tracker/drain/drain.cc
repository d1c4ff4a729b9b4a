#include "tracker/drain/drain.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <vector>

#include "interpose/ring/ring_reader.h"
#include "interpose/system/private_file.h"
#include "tracker/drain/capture_scan.h"
#include "tracker/host/host_number_sources.h"
#include "tracker/writer/capture_writer.h"
#include "tracker/writer/chunk_builder.h"
#include "tracker/writer/file/process_facts.h"
#include "tracker/writer/ring_pump.h"

namespace memoir {
namespace {

// Returns the threads that have records in the ring, each with the index up to which the dead process's writer consumed
// its records.
std::map<std::uint32_t, std::uint64_t> ThreadsIn(RingReader& ring) {
  std::vector<RingExtentView> views(1024);
  std::size_t count;
  while ((count = ring.Scan(views.data(), views.size())) == views.size()) views.resize(views.size() * 2);
  std::map<std::uint32_t, std::uint64_t> threads;
  for (std::size_t i = 0; i < count; ++i) {
    const RingExtentView& view = views[i];
    std::uint64_t& consumed = threads[view.thread];
    if (view.consumed_records != 0) consumed = std::max(consumed, view.first_record + view.consumed_records);
  }
  return threads;
}

// Returns true if the dead process's writer had written records, but no part of its recording exists, because somebody
// removed the parts.
bool PartsAreGone(const ScannedCapture& on_file, const std::map<std::uint32_t, std::uint64_t>& threads) {
  return on_file.next_sequence == 0 &&
         std::any_of(threads.begin(), threads.end(), [](const auto& thread) { return thread.second > 0; });
}

// Skips numbers of parts and chunks, so that readers see from the numbers that earlier parts are missing.
void LeaveRoomForParts(std::uint64_t parts, ScannedCapture* on_file) {
  on_file->next_sequence = 1;
  on_file->next_part = std::max({on_file->next_part, std::uint32_t{1}, static_cast<std::uint32_t>(parts)});
}

// Returns the ring's ProcessInfo, encoded. If the process died before it stored its ProcessInfo, makes one from the
// ring's header, because each part contains a ProcessInfo.
std::string ProcessInfoOf(const RingReader& ring, const std::string& ring_path) {
  std::size_t size = 0;
  const void* bytes = ring.process_info(&size);
  if (size != 0) return std::string(static_cast<const char*>(bytes), size);
  return EncodeProcessInfo({}, ring.last_clock(), ring_path, 4000);
}

// Appends the ring's records to the capture. Returns one line with the error and the remedy; empty on success.
std::string Append(RingReader* ring, const CaptureOptions& options, const ScannedCapture& on_file) {
  ChunkBuilder builder(*ring);
  for (const auto& [thread, next] : on_file.next_record) builder.threads().State(thread).next_record = next;
  CaptureWriter capture(options, *ring, &builder);
  RingPump pump(ring, &builder, &capture);
  const bool wrote = pump.PackUntil(~std::uint64_t{0}, true);
  const bool needs_end = wrote || !on_file.ended;
  if (needs_end && capture.Status().lost_chunks == on_file.counted.lost_chunks) capture.Close(EndReason::kMerged, "");
  const bool failed = needs_end && !capture.closed_in_order();
  const WriterStatus status = capture.Status();
  return failed ? status.last_write_error + "; the ring is kept, " + RemedyDuringRecording(status.last_write_errno)
                : "";
}

// Returns true if a process of this pid namespace holds the ring's lock, or if the lock has just been released. The
// holder is another drainer, because memoir-drain is not started on the ring of a running process.
bool IsLockedByADrainer(const std::string& ring_path) {
  const int file = OpenPrivateFile(ring_path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return false;
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool known = fcntl(file, F_GETLK, &lock) == 0;
  close(file);
  return known && (lock.l_type == F_UNLCK || lock.l_pid > 0);  // F_UNLCK: the lock has just been released
}

// Opens the ring. nullptr with one line in `error` on failure. nullptr with an empty `error` if another drainer has
// merged and removed the ring.
std::unique_ptr<RingReader> OpenRingFile(const std::string& ring_path, std::string* error) {
  constexpr int kMostTries = 400;
  constexpr useconds_t kPauseUs = 50'000;
  for (int tries = 0;; ++tries) {
    char message[512] = "";
    if (access(ring_path.c_str(), F_OK) != 0 && errno == ENOENT) return nullptr;
    errno = 0;
    std::unique_ptr<RingReader> ring(RingReader::OpenFile(ring_path.c_str(), message, sizeof(message)));
    const bool is_locked = ring == nullptr && errno == EAGAIN;
    if (ring == nullptr && access(ring_path.c_str(), F_OK) != 0 && errno == ENOENT) return nullptr;
    if (ring == nullptr) *error = message;
    if (!is_locked || tries == kMostTries || !IsLockedByADrainer(ring_path)) return ring;
    error->clear();
    usleep(kPauseUs);
  }
}

// Reads the memory of this machine and of this process's cgroup, which is usually also the dead process's cgroup.
HostReading SurroundingsNow() {
  HostNumbers numbers = UnknownHostNumbers();
  ReadSurroundings(MemoryGroup::Find(""), &numbers);
  HostReading reading;
  std::memcpy(reading.numbers.data(), &numbers, sizeof numbers);
  return reading;
}

std::string RemoveRing(const std::string& ring_path) {
  if (unlink(ring_path.c_str()) == 0 || errno == ENOENT) return "";
  return "cannot remove " + ring_path + ": " + std::strerror(errno);
}

}  // namespace

std::string DrainRing(const std::string& ring_path, WithoutCapture without, std::uint32_t signal) {
  std::string error;
  const std::unique_ptr<RingReader> ring = OpenRingFile(ring_path, &error);
  if (ring == nullptr) return error;
  CaptureOptions options;
  options.folder = ring->capture_folder();
  options.stem = ring->file_stem();
  std::error_code error_code;
  const bool is_there = std::filesystem::is_directory(options.folder, error_code);
  if (!is_there && error_code && error_code != std::errc::no_such_file_or_directory) {
    return ring_path + ": its capture folder " + options.folder + " cannot be checked: " + error_code.message() +
           "; the ring is kept; run as a user who may read the folder: memoir-drain " + ring_path;
  }
  if (!is_there && without == WithoutCapture::kRemove) return RemoveRing(ring_path);
  if (!is_there) {
    return ring_path + ": its capture folder " + options.folder +
           " is gone; make it again, or remove the ring file to give up what it holds";
  }
  options.process_info = ProcessInfoOf(*ring, ring_path);
  const std::map<std::uint32_t, std::uint64_t> threads = ThreadsIn(*ring);
  ScannedCapture on_file = ScanCapture(options.folder, options.stem, options.process_info, threads);
  if (PartsAreGone(on_file, threads)) LeaveRoomForParts(ring->Counters().parts, &on_file);
  options.keyframes = false;
  options.retry = false;
  options.first_sequence = on_file.next_sequence;
  options.first_part = on_file.next_part;
  options.clock = ring->last_clock();
  options.counted_before = on_file.counted;
  options.host_at_end = SurroundingsNow();
  options.signal_at_end = signal;
  const std::string failure = Append(ring.get(), options, on_file);
  if (!failure.empty()) return failure + " and run again: memoir-drain " + ring_path;
  const std::string left = RemoveRing(ring_path);
  return left.empty() ? "" : left + "; all of it is in the capture, remove it by hand";
}

}  // namespace memoir
