// What the writer knows of each thread: who it is, where it stands in its records, its open ranges. One thread.
#ifndef TRACKER_WRITER_THREADS_H_
#define TRACKER_WRITER_THREADS_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "interpose/ring_reader.h"
#include "tracker/writer/module_places.h"
#include "tracker/writer/range_stack.h"
#include "tracker/writer/run_columns.h"

namespace memoir {

// Threads that have ended stay known by name up to this number (their blocks may live on).
inline constexpr std::size_t kMaxEndedThreads = 4096;

struct ThreadState {
  std::uint32_t thread = 0;
  std::uint32_t works_for = 0;            // thread in whose parallel regions it works; 0: in none
  std::uint64_t next_record = 0;          // records before it are packed
  std::uint64_t seen_record = 0;          // records before it were there in an earlier pass
  std::uint64_t incomplete_since_ns = 0;  // its first group waits for its last records; 0: it does not
  RangeStack ranges;
  ThreadModules modules;
  std::uint32_t stack = 0;     // of Python (stack_table.h); 0: none, or not known
  std::uint64_t repeated = 0;  // records since its last run that are in rows, or say nothing that was not known
  RunColumns* run = nullptr;   // of the chunk in work
};

class Threads {
 public:
  explicit Threads(const RingReader& ring) : ring_(ring) {}

  ThreadState& State(std::uint32_t thread);
  const std::unordered_map<std::uint32_t, ThreadState>& states() const { return states_; }

  // By torch's number, as it refers to threads; nullptr: no such thread is known.
  const ThreadState* ByTorchId(std::uint64_t torch_id);

  // Whose ranges and modules say what a thread does: its own, or those of the thread in whose parallel region it works.
  // The reader does the same (Replayer::WorkingThread).
  const ThreadState& Working(const ThreadState& thread) const;

  // No range and no module is open any more, on any thread: ranges went off, or on.
  void CloseRanges();

  // Reads name and numbers again: torch's number comes after the first record. True: retired, or no longer in the ring.
  bool Refresh(std::uint32_t thread);
  // Appends the ThreadDef unless this part has it as it is now.
  void Define(std::uint32_t thread, std::uint32_t part, std::string* payload);

  // Threads that have ended. Ask before a scan; those without records in it can be dropped.
  std::vector<std::uint32_t> Ended();
  void Drop(std::uint32_t thread);
  // Whether there are enough states to look for ended ones again.
  bool ManyStates() const { return states_.size() >= look_again_at_; }

 private:
  struct Facts {
    ThreadView view{};
    std::uint32_t part = 0;  // last defined in
  };
  void ForgetEnded();

  const RingReader& ring_;
  std::size_t numbers_left_ = kMostNumbers;  // outlives the states
  std::unordered_map<std::uint32_t, ThreadState> states_;
  std::pair<std::uint64_t, std::uint32_t> found_{};  // by ByTorchId last
  std::unordered_map<std::uint32_t, Facts> facts_;
  std::size_t look_again_at_ = 64;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_THREADS_H_
