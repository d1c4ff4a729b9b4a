#include "simcuda/collectives/message_board.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>

#include "simcuda/process/mutex.h"
#include "simcuda/process/simulation_message.h"

namespace memoir::simcuda {
namespace {

constexpr std::uint64_t kMark = 0x6d656d6f6972'6e63;  // "memoirnc"
constexpr std::size_t kPage = 4096;

std::size_t PageUp(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// Returns the start time of a process in clock ticks since boot. Together, the start time and the id identify the
// process. 0 if the process does not run.
std::uint64_t BeginningOf(int process) {
  char path[32], text[1024];
  std::snprintf(path, sizeof path, "/proc/%d/stat", process);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  if (got <= 0) return 0;
  text[got] = '\0';
  const char* field = std::strrchr(text, ')');  // the process name before it may contain any character
  if (field == nullptr || field[1] == '\0' || std::strchr("ZX", field[2]) != nullptr) return 0;
  for (int skipped = 2; skipped < 22 && field != nullptr; ++skipped) field = std::strchr(field + 1, ' ');
  return field == nullptr ? 0 : std::strtoull(field, nullptr, 10);
}

// The nonces of the memory whose descriptors are open in this process. Each descriptor is closed once, however many
// ranks the process has.
struct Invitations {
  Mutex mutex;
  std::set<std::uint64_t> nonces;
};

constinit LazyObject<Invitations> invitations;

Invitations& OpenInvitations() { return invitations.Get(); }

std::uint64_t NewNonce() {
  static std::atomic<std::uint64_t> made{0};
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return (static_cast<std::uint64_t>(now.tv_sec) << 30 ^ static_cast<std::uint64_t>(now.tv_nsec)) * 1009 + ++made;
}

// Moves a descriptor to a high number, which programs do not close by habit (daemons, os.closerange) and do not get for
// their own files.
int OnHighNumber(int file) {
  constexpr int kLeast = 960;
  const int moved = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, kLeast);
  if (moved < 0) return file;
  close(file);
  return moved;
}

// Returns true if the descriptor refers to the memory with this nonce. A program that closed the descriptor may have
// opened another file with the same number.
bool IsMemoryOf(std::uint64_t wanted, int file) {
  std::uint64_t nonce = 0;
  return pread(file, &nonce, sizeof nonce, 0) == sizeof nonce && nonce == wanted;
}

}  // namespace

// The beginning of the shared memory. New memory is zero, so all zeros is a valid first state. No field ever decreases.
struct MessageBoard::Head {
  std::atomic<std::uint64_t> nonce;
  std::atomic<std::int32_t> ranks;
  std::atomic<std::uint32_t> signal;  // a futex
};

struct MessageBoard::Member {
  std::atomic<std::int32_t> is_here;
  std::int32_t process, device, node;
  std::uint64_t beginning;
};

struct MessageBoard::Lane {
  std::atomic<std::uint64_t> posted;             // messages so far
  std::atomic<std::uint64_t> taken[kMostRanks];  // messages that each reader took; a lane with one reader uses only [0]
  std::size_t bytes[kDepth];
};

MessageBoard::Layout MessageBoard::LayoutOf(int ranks) {
  const auto count = static_cast<std::size_t>(ranks), lanes = count + count * count;
  Layout layout;
  layout.members = PageUp(sizeof(Head));
  layout.lanes = PageUp(layout.members + count * sizeof(Member));
  layout.slots = PageUp(layout.lanes + lanes * sizeof(Lane));
  layout.end = layout.slots + lanes * kDepth * kMostBytes;
  return layout;
}

Invitation Invite() {
  Invitation invitation{kMark, NewNonce(), getpid(), OnHighNumber(memfd_create("memoir-simulated-nccl", MFD_CLOEXEC))};
  const int file = invitation.file;
  if (file < 0) return invitation;
  if (pwrite(file, &invitation.nonce, sizeof invitation.nonce, 0) == sizeof invitation.nonce) {
    const std::lock_guard lock(OpenInvitations().mutex);
    OpenInvitations().nonces.insert(invitation.nonce);
    return invitation;
  }
  const int error = errno;
  close(file);
  errno = error;
  invitation.file = -1;
  return invitation;
}

void CloseInvitation(const Invitation& invitation) {
  if (invitation.process != getpid()) return;
  const std::lock_guard lock(OpenInvitations().mutex);
  const bool was_open = OpenInvitations().nonces.erase(invitation.nonce) > 0;
  if (was_open && IsMemoryOf(invitation.nonce, invitation.file)) close(invitation.file);
}

MessageBoard::~MessageBoard() {
  if (base_ != nullptr) munmap(base_, layout_.end);
}

std::string MessageBoard::Join(const Invitation& invitation, int ranks, int rank, int device, int node) {
  if (invitation.mark != kMark || invitation.file < 0) return "its id was not made by this simulated NCCL";
  if (ranks > kMostRanks) {
    return std::to_string(ranks) + " ranks, but at most " + std::to_string(kMostRanks) +
           " processes can meet; simulate one rank of a larger world instead (--sim-rank, --sim-world)";
  }
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", invitation.process, invitation.file);
  const int file = open(path, O_RDWR | O_CLOEXEC);
  const std::string maker = "process " + std::to_string(invitation.process) + ", which made its id, ";
  if (file < 0) return maker + "cannot be reached (" + std::strerror(errno) + "): it ended, or is on another machine";
  const bool is_it = IsMemoryOf(invitation.nonce, file);
  layout_ = LayoutOf(ranks);
  const std::size_t bytes = layout_.end;
  void* memory = MAP_FAILED;
  if (is_it && ftruncate(file, static_cast<off_t>(bytes)) == 0)
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  const int error = errno;
  close(file);
  if (!is_it) return maker + "is another one by now, or is on another machine";
  if (memory == MAP_FAILED) {
    return ReadableBytes(bytes) + " of address space to meet in are refused (" + std::strerror(error) +
           "); raise 'ulimit -v'";
  }
  base_ = static_cast<char*>(memory);
  ranks_ = ranks;
  std::int32_t none = 0;
  if (!head().ranks.compare_exchange_strong(none, ranks) && none != ranks)
    return "another rank made it for " + std::to_string(none) + " ranks";
  Member& self = member(rank);
  self.process = getpid();
  self.device = device;
  self.node = node;
  self.beginning = BeginningOf(getpid());
  if (self.is_here.exchange(1, std::memory_order_acq_rel) != 0)
    return "there is a rank " + std::to_string(rank) + " already";
  Wake();
  return "";
}

MessageBoard::Head& MessageBoard::head() const { return *reinterpret_cast<Head*>(base_); }

MessageBoard::Member& MessageBoard::member(int rank) const {
  return reinterpret_cast<Member*>(base_ + layout_.members)[rank];
}

MessageBoard::Lane& MessageBoard::lane(int index) const {
  return reinterpret_cast<Lane*>(base_ + layout_.lanes)[index];
}

char* MessageBoard::Slot(int lane, std::uint64_t number) const {
  return base_ + layout_.slots + (static_cast<std::size_t>(lane) * kDepth + number % kDepth) * kMostBytes;
}

bool MessageBoard::IsHere(int rank) const { return member(rank).is_here.load(std::memory_order_acquire) != 0; }

bool MessageBoard::IsAlive(int rank) const {
  return IsHere(rank) && BeginningOf(member(rank).process) == member(rank).beginning;
}

int MessageBoard::Process(int rank) const { return IsHere(rank) ? member(rank).process : 0; }

std::string MessageBoard::SharedDevice() const {
  for (int rank = 0; rank < ranks_; ++rank) {
    for (int other = 0; other < rank && IsHere(rank) && IsHere(other); ++other) {
      const Member &one = member(other), &two = member(rank);
      if (one.device != two.device || one.node != two.node) continue;
      return "ranks " + std::to_string(other) + " and " + std::to_string(rank) + " are both on device " +
             std::to_string(one.device) +
             ", which NCCL refuses; give each a device of its own (torch.cuda.set_device, --sim-devices)";
    }
  }
  return "";
}

char* MessageBoard::Room(int index, std::uint64_t number) const {
  if (lane(index).posted.load(std::memory_order_acquire) != number) return nullptr;
  if (number < kDepth) return Slot(index, number);
  const std::uint64_t oldest = number - kDepth;  // message `number` will overwrite the slot of message `oldest`
  for (int reader = 0; reader < (IsToAll(index) ? ranks_ : 1); ++reader) {
    if (!HasTaken(index, reader, oldest)) return nullptr;
  }
  return Slot(index, number);
}

void MessageBoard::Commit(int index, std::uint64_t number, std::size_t bytes) {
  lane(index).bytes[number % kDepth] = bytes;
  lane(index).posted.store(number + 1, std::memory_order_release);
  Wake();
}

bool MessageBoard::HasTaken(int index, int reader, std::uint64_t number) const {
  const int place = IsToAll(index) ? reader : 0;
  return lane(index).taken[place].load(std::memory_order_acquire) > number;
}

bool MessageBoard::IsPosted(int index, std::uint64_t number) const {
  return lane(index).posted.load(std::memory_order_acquire) > number;
}

const char* MessageBoard::Peek(int index, std::uint64_t number) const { return Slot(index, number); }

// Returns the length that another process wrote for a message, but at most the size of a slot.
std::size_t MessageBoard::Bytes(int index, std::uint64_t number) const {
  return std::min(lane(index).bytes[number % kDepth], kMostBytes);
}

void MessageBoard::Take(int index, int reader, std::uint64_t number) {
  lane(index).taken[IsToAll(index) ? reader : 0].store(number + 1, std::memory_order_release);
}

std::uint32_t MessageBoard::Signal() const { return head().signal.load(std::memory_order_acquire); }

void MessageBoard::Wait(std::uint32_t seen, int milliseconds) const {
  const timespec time{milliseconds / 1000, milliseconds % 1000 * 1'000'000L};
  syscall(SYS_futex, &head().signal, FUTEX_WAIT, seen, &time, nullptr, 0);
}

void MessageBoard::Wake() const {
  head().signal.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &head().signal, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace memoir::simcuda
