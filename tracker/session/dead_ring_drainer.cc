#include "tracker/session/dead_ring_drainer.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "interpose/system/tick.h"

namespace memoir {
namespace {

constexpr std::uint64_t kBetweenLooksNs = 5'000'000'000;
constexpr std::uint64_t kOtherCapturesWaitNs = 60'000'000'000;
constexpr std::uint64_t kMaxFinishNs = 3'000'000'000;
constexpr std::size_t kMostRefused = 1000;  // with more refused rings, this process stops draining

std::uint64_t RealtimeNs() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

DeadRingDrainer::DeadRingDrainer(const std::string& ring, std::string capture_folder, const std::string& drain)
    : folder_(ring.substr(0, ring.find_last_of('/'))),
      capture_folder_(std::move(capture_folder)),
      process_(drain),
      can_drain_(!drain.empty() && !ring.empty()) {}

bool DeadRingDrainer::IsForUs(const DeadRing& ring) const {
  if (!ring.is_whole || ring.is_locked || std::ranges::find(refused_, ring.inode) != refused_.end()) return false;
  if (ring.capture_folder == capture_folder_) return true;
  const std::uint64_t now = RealtimeNs();
  return ring.last_seen_ns != 0 && ring.last_seen_ns < now && now - ring.last_seen_ns > kOtherCapturesWaitNs;
}

// Starts memoir-drain on the next dead ring. If the capture's folder no longer exists, memoir-drain removes the ring
// only if `certainly_dead` is true. Otherwise the ring may belong to another container, whose processes and folders are
// not visible here.
void DeadRingDrainer::StartNext() {
  FindDeadRings(folder_, [this](const DeadRing& ring) {
    if (!IsForUs(ring)) return true;
    if (process_.Start(ring.path, ring.certainly_dead)) {
      at_work_ = ring.inode;
    } else {
      can_drain_ = false;  // no process can be started
    }
    return false;
  });
}

void DeadRingDrainer::Look() noexcept {
  if (!can_drain_) return;
  try {
    const DrainProcess::State state = process_.Look();
    if (state == DrainProcess::State::kRunning) return;
    if (state == DrainProcess::State::kFailed) refused_.push_back(at_work_);
    const std::uint64_t now = MonotonicNs();
    if (state == DrainProcess::State::kNone && now < look_at_ns_) return;
    look_at_ns_ = now + kBetweenLooksNs;
    if (refused_.size() > kMostRefused) can_drain_ = false;
    if (can_drain_) StartNext();
  } catch (...) {  // no memory: the rings are merged later
  }
}

void DeadRingDrainer::Finish() noexcept {
  const std::uint64_t start = MonotonicNs();
  const timespec pause{.tv_sec = 0, .tv_nsec = 5'000'000};
  while (process_.Look() == DrainProcess::State::kRunning && MonotonicNs() - start < kMaxFinishNs)
    nanosleep(&pause, nullptr);
}

}  // namespace memoir
