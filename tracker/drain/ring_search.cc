#include "tracker/drain/ring_search.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <system_error>

#include "interpose/ring/ring_layout.h"
#include "interpose/system/private_file.h"
#include "interpose/system/process_identity.h"

namespace memoir {
namespace {

// Bytes of the header before its counters. Among these fields only the clock changes during a recording.
constexpr std::size_t kHeadBytes = offsetof(RingHeader, dropped_records);

// Reads the pid and start time of a ring's process from the name of the ring file: "memoir-ring-PID-START.ring", or
// "memoir-ring-PID-START.N.ring" if the first name was in use. False if `name` has another form.
bool ReadName(const char* name, ProcessIdentity* process) {
  constexpr std::string_view kBegin = "memoir-ring-";
  const std::string_view whole = name;
  if (!whole.starts_with(kBegin) || !whole.ends_with(".ring")) return false;
  const char* const last = whole.data() + whole.size();
  const auto [after_pid, pid_error] = std::from_chars(whole.data() + kBegin.size(), last, process->pid);
  if (pid_error != std::errc{} || *after_pid != '-') return false;
  const auto [after_start, start_error] = std::from_chars(after_pid + 1, last, process->start_time);
  return start_error == std::errc{} && *after_start == '.';
}

// Returns the text of a header's field, which may be damaged and lack the terminating NUL.
template <std::size_t kBytes>
std::string Text(const char (&field)[kBytes]) {
  return std::string(field, strnlen(field, kBytes));
}

void ReadHead(const RingHeader& head, const ProcessIdentity& own, DeadRing* ring) {
  ring->is_whole = head.magic.load(std::memory_order_relaxed) == kRingMagic && head.version == kRingVersion;
  if (!ring->is_whole) return;
  ring->capture_folder = Text(head.capture_folder);
  ring->last_seen_ns = head.clock[head.clock_switch.load(std::memory_order_relaxed) & 1].realtime_ns;
  ring->certainly_dead = head.pid_namespace == own.pid_namespace && Text(head.boot_id) == own.boot_id;
}

bool IsLocked(int file) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

// Reads the ring at `path` into `ring`. False if the file is not a ring, or belongs to another user.
bool Examine(const std::string& path, const ProcessIdentity& own, DeadRing* ring) {
  const int file = OpenPrivateFile(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return false;
  struct stat status;
  const bool is_ours = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
  alignas(RingHeader) std::uint8_t bytes[kHeadBytes] = {};
  const bool is_read = is_ours && pread(file, bytes, sizeof bytes, 0) == static_cast<ssize_t>(sizeof bytes);
  ring->is_locked = is_ours && IsLocked(file);
  close(file);
  if (!is_ours) return false;
  ring->path = path;
  ring->inode = status.st_ino;
  ring->bytes = static_cast<std::uint64_t>(status.st_blocks) * 512;
  if (is_read) ReadHead(*reinterpret_cast<const RingHeader*>(bytes), own, ring);
  return true;
}

}  // namespace

void FindDeadRings(const std::string& folder, const std::function<bool(const DeadRing&)>& visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  if (entries == nullptr) return;
  const ProcessIdentity own = OwnIdentity();
  if (own.start_time == 0) return;  // without /proc, Memoir cannot determine whether a process has ended
  while (const dirent* entry = readdir(entries.get())) {
    ProcessIdentity process = own;
    if (!ReadName(entry->d_name, &process) || IsRunning(process)) continue;
    DeadRing ring;
    ring.pid = process.pid;
    if (Examine(folder + "/" + entry->d_name, own, &ring) && !visit(ring)) return;
  }
}

}  // namespace memoir
