#include "tracker/host/host_readings.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "interpose/ring/ring.h"
#include "interpose/ring/write_record.h"
#include "interpose/system/tick.h"
#include "tracker/host/host_number_sources.h"
#include "tracker/host/malloc_state.h"
#include "tracker/host/system_text.h"

namespace memoir {
namespace {

constexpr std::uint64_t kLookNs = 250'000'000;
constexpr std::uint64_t kRegularNs = 10'000'000'000;
// A number differs if it changed by more than 16 MiB and by more than a fiftieth.
constexpr std::uint64_t kSmallestChange = 16u << 20;
constexpr std::uint64_t kShare = 50;
constexpr std::uint64_t kCosts = 1000;  // reading the memory of child processes takes at most 1/1000 of elapsed time
constexpr std::uint64_t kLongestMallocNs = 1'000'000;

// Returns the resident bytes of this process from /proc/PID/statm, the cheapest source (proc(5)).
std::uint64_t ResidentBytes() {
  const std::string text = ReadSystemText("/proc/self/statm");
  const std::size_t space = text.find(' ');
  const std::uint64_t pages = space == std::string::npos ? kNotKnown : NumberOf(std::string_view(text).substr(space));
  return pages == kNotKnown ? kNotKnown : pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

bool Differs(std::uint64_t now, std::uint64_t before) {
  const std::uint64_t change = std::max(now, before) - std::min(now, before);
  return now != kNotKnown && change > std::max(kSmallestChange, before / kShare);
}

}  // namespace

HostSampler::HostSampler() : group_(MemoryGroup::Find("")) {}

ReadingCause HostSampler::DueCause(std::uint64_t now_ns) const {
  if (last_ns_ == 0) return ReadingCause::kStart;
  const std::uint64_t resident = ResidentBytes();
  if (Differs(resident, resident_)) return resident > highest_ ? ReadingCause::kPeak : ReadingCause::kRegular;
  if (Differs(group_.ReadUsed(), used_) || now_ns >= last_ns_ + kRegularNs) return ReadingCause::kRegular;
  return ReadingCause{};
}

void HostSampler::Look() {
  const std::lock_guard lock(mutex_);
  const std::uint64_t now_ns = MonotonicNs();
  if (now_ns < next_look_ns_ || !RecordingEnabled()) return;
  next_look_ns_ = now_ns + kLookNs;
  const ReadingCause cause = DueCause(now_ns);
  if (cause != ReadingCause{}) Record(cause, now_ns);
}

void HostSampler::RecordLast() {
  const std::lock_guard lock(mutex_);
  if (last_ns_ == 0 || !RecordingEnabled()) return;
  next_children_ns_ = 0;
  Record(ReadingCause::kLast, MonotonicNs());
}

void HostSampler::ReadMalloc(HostNumbers* numbers) {
  const std::uint64_t begin_ns = MonotonicNs();
  const MallocState heap = ReadMallocState();
  malloc_is_slow_ = MonotonicNs() - begin_ns > kLongestMallocNs;
  numbers->malloc_used_bytes = heap.used_bytes;
  numbers->malloc_free_bytes = heap.free_bytes;
}

void HostSampler::Record(ReadingCause cause, std::uint64_t now_ns) {
  const bool at_an_end = cause == ReadingCause::kStart || cause == ReadingCause::kLast;
  HostNumbers numbers = UnknownHostNumbers();
  ReadOwnMemory(&numbers);
  ReadSurroundings(group_, &numbers);
  if (!malloc_is_slow_ || at_an_end) ReadMalloc(&numbers);
  // Only at the start and at the end, because this read locks the process's mappings for about a millisecond per 100
  // MiB.
  if (at_an_end) numbers.proportional_bytes = ReadProportionalBytes("/proc/self");
  if (now_ns >= next_children_ns_) {
    children_ = ReadChildrenMemory("/proc", static_cast<std::uint64_t>(getpid()));
    next_children_ns_ = now_ns + std::max((MonotonicNs() - now_ns) * kCosts, kRegularNs / 2);
  }
  numbers.children = children_.count;
  numbers.children_bytes = children_.anonymous_bytes;
  resident_ = ResidentBytes();
  if (resident_ != kNotKnown) highest_ = std::max(highest_, resident_);
  used_ = numbers.group_used_bytes;
  last_ns_ = now_ns;
  WriteRecord<HostReadingRecord>(RecordKind::kHostReading, static_cast<std::uint8_t>(cause),
                                 [&](HostReadingRecord& record) { record.numbers = numbers; });
}

}  // namespace memoir
