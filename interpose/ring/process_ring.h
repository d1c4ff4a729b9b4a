// The state of this process's ring, which ring_opening.cc opens and closes. This file declares the mutable globals that
// the files of the ring share, except for those that hooks read inline (ring.h) and thread_works_for (thread_slots.h).
//
// The state is never freed, so hooks may run until the process ends. A forked child inherits RingState from its parent,
// but the kernel zeroes the child's ForkWipedPage. So only OpenRing(), which reads that page, shows whether this
// process has a ring; RingState alone does not.
#ifndef INTERPOSE_RING_PROCESS_RING_H_
#define INTERPOSE_RING_PROCESS_RING_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "interpose/ring/ring_layout.h"

namespace memoir {

// Flags on a separate page, which the kernel zeroes in every forked child. The generation of a ring is its number in
// this process, counted from 1; a forked child continues the count of its parent.
struct ForkWipedPage {
  std::atomic<std::uint32_t> enabled;              // first word of memoir_enabled_flag
  std::atomic<std::uint32_t> range_epoch;          // second word of memoir_enabled_flag
  std::atomic<std::uint32_t> generation;           // generation of the open ring; 0 without an open ring
  std::atomic<std::uint32_t> opened_here;          // 1: this process itself opened a ring, not only its parent
  alignas(64) std::atomic<std::int32_t> visitors;  // number of RingVisit objects; on a separate cache line
};

// The longest wait of a producer for an extent, unless RingState::max_wait_ns is set otherwise.
inline constexpr std::uint64_t kMaxWaitNs = 5'000'000'000;

struct RingState {
  std::atomic<ForkWipedPage*> page;
  RingMap map;                             // the newest ring; read it through OpenRing or RingVisit
  std::uint32_t generation;                // generation of the newest ring; children continue the count
  std::uint32_t range_epoch;               // how often ranges were switched on (ring.h); children continue the count
  std::atomic<std::uint64_t> max_wait_ns;  // the longest wait of a producer for an extent
  pthread_key_t exit_key;
  bool exit_key_made;
  int fd;                // descriptor of the ring file on the files thread; the file's lock marks the ring as in use
  char path[4096 + 64];  // "" while no ring is open
};

extern constinit RingState ring_state;

// True once this thread's exit has retired its slot; the thread then gets no other slot.
extern constinit thread_local bool thread_has_left;

// Returns the ring of this process. nullptr before RingOpen, after RingClose, and in a forked child. May be called by
// the thread that starts and stops recording, and by threads that this thread joins before RingClose. All other threads
// use a RingVisit.
const RingMap* OpenRing();

// One thread's use of the ring, for everything except the fast path of writing a record. RingClose waits at most one
// second for all visits to end. A visit uses the same ring until its end. May be used on any thread.
class RingVisit {
 public:
  RingVisit();
  ~RingVisit();
  RingVisit(const RingVisit&) = delete;
  RingVisit& operator=(const RingVisit&) = delete;

  // The ring that was open when the visit began. nullptr if no ring was open.
  const RingMap* ring() const { return map_.header == nullptr ? nullptr : &map_; }
  // False once RingClose has begun to close this ring.
  bool IsStillOpen() const;

 private:
  ForkWipedPage* page_;
  RingMap map_{};
};

}  // namespace memoir

#endif  // INTERPOSE_RING_PROCESS_RING_H_
