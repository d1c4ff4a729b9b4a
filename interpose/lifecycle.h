// The state of this process's ring: every mutable global that recording needs, and its beginning and end. What is done
// at the start of threads has its own (thread_start.cc).
//
// Leaked at exit on purpose. A forked child inherits RingState but finds the fork-wiped page empty, so OpenRing() is
// nullptr there: that, and never RingState itself, tells whether there is a ring to touch.
#ifndef INTERPOSE_LIFECYCLE_H_
#define INTERPOSE_LIFECYCLE_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "interpose/kept_file.h"
#include "interpose/ring_layout.h"

namespace memoir {

// On its own page, which the kernel zeroes in every child.
struct ForkWiped {
  std::atomic<std::uint32_t> enabled;              // what memoir_enabled_flag points to: its first word
  std::atomic<std::uint32_t> range_epoch;          // its second
  std::atomic<std::uint32_t> generation;           // of the open ring; 0: none
  std::atomic<std::uint32_t> opened_here;          // by this process, not by one that it was forked from
  alignas(64) std::atomic<std::int32_t> visitors;  // threads inside a RingVisit; not on the line that every hook reads
};

struct RingState {
  std::atomic<ForkWiped*> page;
  RingMap map;                             // of the newest ring; read it through OpenRing or a RingVisit
  std::uint32_t generation;                // of the newest ring; goes on counting in children
  std::uint32_t range_epoch;               // the newest; likewise
  std::atomic<std::uint64_t> max_wait_ns;  // of one stall
  pthread_key_t exit_key;
  bool exit_key_made;
  KeptFile file;  // holds the lock by which other processes see that the ring is in use
  char path[4096 + 64];
};

extern constinit RingState ring_state;

// This thread's exit has retired its slot: it gets no other one.
extern constinit thread_local bool thread_has_left;

// The ring of this process; nullptr before RingOpen, after RingClose, and in a forked child. For the thread that starts
// and stops recording, and threads that it joins before RingClose; all others visit.
const RingMap* OpenRing();

// Takes the ring's lock again where the program has closed the descriptor that held it. For the ring's reader.
void HoldRingLock();

// A stay of any thread in the ring beyond the fast path of a record. RingClose waits for its end, so that nobody who
// went into one ring comes out in the next.
class RingVisit {
 public:
  RingVisit();
  ~RingVisit();
  RingVisit(const RingVisit&) = delete;
  RingVisit& operator=(const RingVisit&) = delete;

  // As it was when the visit began; nullptr: none is open.
  const RingMap* ring() const { return map_.header == nullptr ? nullptr : &map_; }
  // False when RingClose came in between: it has run out of patience with this visit.
  bool StillOpen() const;

 private:
  ForkWiped* page_;
  RingMap map_{};
};

}  // namespace memoir

#endif  // INTERPOSE_LIFECYCLE_H_
