#include "interpose/ring/ring_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "interpose/ring/ring_growth.h"
#include "interpose/ring/ring_layout.h"
#include "interpose/system/private_file.h"

namespace memoir {
namespace {

constexpr std::uint32_t kMinSegments = kMinRingBytes / kSegmentBytes;
// The number of file names to try. A process keeps its id and start time when it calls exec, so the ring file of its
// earlier program, which waits for memoir-drain, may have the first name.
constexpr int kMaxNameTries = 100;

struct FileSystem {
  long type;
  const char* name;
};
// File systems on which a shared mapping is unsafe (linux/magic.h): a store may block on the network, or fail long
// afterwards, or processes may not see each other's stores.
constexpr FileSystem kRemote[] = {
    {0x6969, "NFS"},     {0x0BD00BD0, "Lustre"}, {0x47504653, "GPFS"},   {0xFF534D42, "CIFS"},
    {0xFE534D42, "SMB"}, {0x517B, "SMB"},        {0x65735546, "FUSE"},   {0x00C36400, "Ceph"},
    {0x5346414F, "AFS"}, {0x01021997, "9P"},     {0x19830326, "BeeGFS"}, {0x786F4256, "a VirtualBox share"},
};

// The reason why a folder could not be used.
struct Refusal {
  char text[256];
  bool file_size_limit;  // true if the reason is the process's file size limit, which applies in every folder
};

// The bytes that a folder has for one file.
struct Room {
  std::uint64_t free;        // 0: the folder cannot be used
  std::uint64_t file_limit;  // the process's limit; beyond it posix_fallocate would end the program (SIGXFSZ)
};

std::uint64_t MiB(std::uint64_t bytes) { return (bytes + (1u << 20) - 1) >> 20; }

std::uint64_t FileSizeLimit() {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

// Returns the folder's room. Sets `refusal` and returns 0 free bytes if the folder cannot be used at all.
Room RoomIn(const char* folder, Refusal* refusal) {
  struct statfs kind;
  struct statvfs room;
  if (statfs(folder, &kind) != 0 || statvfs(folder, &room) != 0) {
    std::snprintf(refusal->text, sizeof refusal->text, "%s", std::strerror(errno));
    return {0, 0};
  }
  const char* remote = NetworkFileSystem(static_cast<long>(kind.f_type));
  if (remote != nullptr) {
    std::snprintf(refusal->text, sizeof refusal->text, "it is on a network file system (%s)", remote);
    return {0, 0};
  }
  return {std::max<std::uint64_t>(std::uint64_t{room.f_bavail} * room.f_frsize, 1), FileSizeLimit()};
}

// Sets `refusal` to the reason `code`, an errno value, and the bytes that are needed and available.
void RefuseForRoom(int code, std::uint64_t needed, const Room& room, Refusal* refusal) {
  const auto needed_mib = static_cast<unsigned long long>(MiB(needed));
  if (code == EFBIG) {
    refusal->file_size_limit = true;
    std::snprintf(refusal->text, sizeof refusal->text, "%llu MiB needed, the file size limit (ulimit -f) is %llu KiB",
                  needed_mib, static_cast<unsigned long long>(room.file_limit >> 10));
  } else if (code == EDQUOT) {
    std::snprintf(refusal->text, sizeof refusal->text, "%llu MiB needed, the disk quota is used up", needed_mib);
  } else {
    std::snprintf(refusal->text, sizeof refusal->text, "%llu MiB needed, %llu MiB free", needed_mib,
                  static_cast<unsigned long long>(room.free >> 20));
  }
}

// Creates and opens an empty file. Returns 0, or an errno value.
int CreateIn(const char* folder, const ProcessIdentity& process, RingFile* file) {
  for (int attempt = 0; attempt < kMaxNameTries; ++attempt) {
    char again[16] = "";
    if (attempt > 0) std::snprintf(again, sizeof again, ".%d", attempt);
    const int length = std::snprintf(file->path, sizeof file->path, "%s/memoir-ring-%llu-%llu%s.ring", folder,
                                     static_cast<unsigned long long>(process.pid),
                                     static_cast<unsigned long long>(process.start_time), again);
    if (length < 0 || static_cast<std::size_t>(length) >= sizeof file->path) return ENAMETOOLONG;
    file->fd = OpenLastingFile(file->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
    if (file->fd >= 0) return 0;
    if (errno != EEXIST) return errno;
  }
  return EEXIST;
}

// Blocks signals, because a signal makes posix_fallocate undo its allocation. A timer of the program with a short
// interval would interrupt every try.
int Allocate(int fd, std::size_t bytes) {
  constexpr int kMostTries = 100;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int result = EINTR;
  for (int attempt = 0; attempt < kMostTries && result == EINTR; ++attempt) {
    result = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

// Allocates and maps the extents in use, and reserves addresses for all other extents. Returns 0, or an errno value.
int AllocateAndMap(RingFile* file) {
  constexpr int kAccess = PROT_READ | PROT_WRITE;
  const RingOffsets offsets = OffsetsFor(file->segment_count);
  const std::size_t used = offsets.segments + std::size_t{file->segments_in_use} * kSegmentBytes;
  const int allocated = Allocate(file->fd, used);
  if (allocated != 0) return allocated;
  if (used < offsets.total && ftruncate(file->fd, static_cast<off_t>(offsets.total)) != 0) return errno;
  file->base = mmap(nullptr, offsets.total, kAccess, MAP_SHARED, file->fd, 0);
  if (file->base == MAP_FAILED) return errno;
  // Maps the file a second time, from its start to the last extent in use, to populate these pages.
  const int flags = MAP_SHARED | MAP_POPULATE | MAP_FIXED;
  if (mmap(file->base, used, kAccess, flags, file->fd, 0) != MAP_FAILED) return 0;
  const int error = errno;
  munmap(file->base, offsets.total);
  return error;
}

// Creates a file with `most` extents, of which `count` are in use at first.
int CreateOfSize(const char* folder, const ProcessIdentity& process, std::uint32_t count, std::uint32_t most,
                 RingFile* file) {
  file->segments_in_use = count;
  file->segment_count = most;
  const int created = CreateIn(folder, process, file);
  if (created != 0) return created;
  const int mapped = AllocateAndMap(file);
  if (mapped == 0) return 0;
  close(file->fd);
  unlink(file->path);
  return mapped;
}

bool IsLackOfRoom(int code) { return code == ENOSPC || code == EDQUOT || code == EFBIG || code == ENOMEM; }

// Creates a file with `most` extents, of which `count` are in use at first. If a limit on address space or file size
// does not allow the extents that are not yet in use, creates a file with only `count` extents.
int CreateOfSizeAndMore(const char* folder, const ProcessIdentity& process, std::uint32_t count, const Room& room,
                        std::uint32_t most, RingFile* file) {
  if (most > count && OffsetsFor(most).total <= room.file_limit) {
    const int code = CreateOfSize(folder, process, count, most, file);
    if (code != EFBIG && code != ENOMEM) return code;
  }
  return CreateOfSize(folder, process, count, count, file);
}

struct RingSizeRequest {
  std::uint32_t first;  // extents in use at first
  std::uint32_t most;   // extents to which the ring may grow; 0: it does not grow
};

// Creates the largest ring that fits into this folder: tries `wanted.first` extents, and halves this number until the
// ring fits or has `least` extents. A ring fits if the folder has `room_factor` times its size.
bool CreateLargest(const char* folder, const ProcessIdentity& process, const RingSizeRequest& wanted,
                   std::uint32_t least, std::uint64_t room_factor, RingFile* file, Refusal* refusal) {
  const Room room = RoomIn(folder, refusal);
  if (room.free == 0) return false;
  for (std::uint32_t count = wanted.first;; count = std::max(count / 2, least)) {
    const std::uint64_t total = OffsetsFor(count).total;
    const int short_of = total > room.file_limit ? EFBIG : total * room_factor > room.free ? ENOSPC : 0;
    const int code = short_of != 0 ? short_of : CreateOfSizeAndMore(folder, process, count, room, wanted.most, file);
    if (code == 0) return true;
    if (IsLackOfRoom(code) && count > least) continue;
    if (IsLackOfRoom(code)) {
      RefuseForRoom(code, total, room, refusal);
    } else {
      std::snprintf(refusal->text, sizeof refusal->text, "%s", std::strerror(code));
    }
    return false;
  }
}

std::uint32_t WantedSegments(std::size_t bytes) {
  const std::size_t segments = bytes / kSegmentBytes;
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(segments, kMinSegments, kMaxSegments));
}

const char* NonEmpty(const char* text) { return text != nullptr && text[0] != '\0' ? text : nullptr; }

bool CreateInChosen(const char* folder, const ProcessIdentity& process, const RingSizeRequest& wanted, RingFile* file,
                    char* error, std::size_t error_bytes) {
  Refusal refusal{};
  if (CreateLargest(folder, process, wanted, kMinSegments, 1, file, &refusal)) return true;
  std::snprintf(error, error_bytes, "no ring in %s: %s; %s", folder, refusal.text,
                refusal.file_size_limit ? "raise that limit"
                                        : "set MEMOIR_RING_DIR to a writable folder on a local disk or in memory");
  return false;
}

bool CreateInUsualPlaces(const ProcessIdentity& process, const RingSizeRequest& wanted, RingFile* file, char* error,
                         std::size_t error_bytes) {
  // The folder must be absolute: memoir-drain reads the ring later, from another current folder.
  const char* temporary = std::getenv("TMPDIR");
  const char* folders[] = {"/dev/shm", temporary != nullptr && temporary[0] == '/' ? temporary : nullptr, "/tmp"};
  Refusal refusals[3] = {};
  // Prefers /dev/shm, which is in memory. But the program may need this folder itself (data loaders), so it is used for
  // a ring of the full size only if it has room for twice the size. If no folder has room for the full size, a smaller
  // ring is created.
  if (CreateLargest(folders[0], process, wanted, wanted.first, 2, file, &refusals[0])) return true;
  for (int place = 1; place < 3; ++place) {
    if (folders[place] != nullptr &&
        CreateLargest(folders[place], process, wanted, wanted.first, 1, file, &refusals[place])) {
      return true;
    }
  }
  for (int place = 0; place < 3; ++place) {
    if (folders[place] != nullptr &&
        CreateLargest(folders[place], process, wanted, kMinSegments, 1, file, &refusals[place])) {
      return true;
    }
  }
  const bool limited = refusals[0].file_size_limit || refusals[1].file_size_limit || refusals[2].file_size_limit;
  std::snprintf(error, error_bytes, "no folder for the ring: /dev/shm: %s; %s%s%s%s/tmp: %s; %s", refusals[0].text,
                folders[1] ? folders[1] : "", folders[1] ? ": " : "", folders[1] ? refusals[1].text : "",
                folders[1] ? "; " : "", refusals[2].text,
                limited ? "raise that limit" : "set MEMOIR_RING_DIR to a writable local folder");
  return false;
}

}  // namespace

bool CreateRingFile(const RingOptions& options, const ProcessIdentity& process, RingFile* file, char* error,
                    std::size_t error_bytes) {
  const RingSizeRequest wanted =
      options.bytes == 0 ? RingSizeRequest{WantedSegments(kDefaultRingBytes), WantedSegments(kMostRingBytes)}
                         : RingSizeRequest{WantedSegments(options.bytes), 0};
  const char* chosen = NonEmpty(options.folder);
  if (chosen == nullptr) chosen = NonEmpty(std::getenv("MEMOIR_RING_DIR"));
  if (chosen != nullptr) return CreateInChosen(chosen, process, wanted, file, error, error_bytes);
  return CreateInUsualPlaces(process, wanted, file, error, error_bytes);
}

const char* NetworkFileSystem(long type) {
  for (const FileSystem& remote : kRemote) {
    // Compares 32 bits, because f_type is signed on some machines.
    if ((type & 0xffffffffL) == remote.type) return remote.name;
  }
  return nullptr;
}

bool LockRingFile(int fd) {
  // Not flock, because a forked child would inherit that lock and hold it long after its parent's death.
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return fcntl(fd, F_SETLK, &lock) == 0;
}

}  // namespace memoir
