// The writer's state for each thread of the program: the thread's identity, the writer's position in its records, and
// its open ranges. Only one thread may use this state at a time.
#ifndef TRACKER_WRITER_STATE_THREADS_H_
#define TRACKER_WRITER_STATE_THREADS_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "interpose/ring/ring_reader.h"
#include "tracker/writer/events/run_columns.h"
#include "tracker/writer/state/module_places.h"
#include "tracker/writer/state/range_stack.h"

namespace memoir {

// Limit on ended threads whose names are kept. The names are kept because blocks of these threads may still be live.
inline constexpr std::size_t kMaxEndedThreads = 4096;

struct ThreadState {
  std::uint32_t thread = 0;
  std::uint32_t works_for = 0;            // thread for whose parallel regions this thread works; 0: no thread
  std::uint64_t next_record = 0;          // index; the records before it were added to a chunk
  std::uint64_t seen_record = 0;          // index; the records before it were visible in an earlier scan
  std::uint64_t incomplete_since_ns = 0;  // since when the writer waits for tensors of the next event; 0: it does not
  RangeStack ranges;
  ThreadModules modules;
  std::uint32_t stack = 0;     // id of the Python stack (stack_table.h); 0: no stack, or unknown
  std::uint64_t repeated = 0;  // number of records since the last run that are in no run (RowPacker)
  RunColumns* run = nullptr;   // the thread's run in the current chunk; nullptr: no run
};

class Threads {
 public:
  explicit Threads(const RingReader& ring) : ring_(ring) {}

  ThreadState& State(std::uint32_t thread);
  const std::unordered_map<std::uint32_t, ThreadState>& states() const { return states_; }

  // Finds a thread by torch's number; nullptr if no such thread is known.
  const ThreadState* FindByTorchId(std::uint64_t torch_id);

  // Returns the thread whose ranges and modules apply to the work of `thread`: the thread itself, or the thread for
  // whose parallel region it works. The readers of captures do the same (tools/model/replay/state/replay_threads.h).
  const ThreadState& FindWorkingThread(const ThreadState& thread) const;

  // Closes all ranges and module calls of all threads, because the recording of ranges has stopped or resumed.
  void CloseRanges();

  // Reads the thread's name and numbers from the ring again, because torch's number may be set after the thread's first
  // record. Returns true if the thread has ended, or is no longer in the ring.
  bool Refresh(std::uint32_t thread);
  // Appends the ThreadDef, unless this part has it already with the same facts.
  void Define(std::uint32_t thread, std::uint32_t part, std::string* payload);

  // Returns the threads that have ended. Call it before a scan of the ring. A returned thread that has no records in
  // the scan can then be dropped.
  std::vector<std::uint32_t> FindEnded();
  void Drop(std::uint32_t thread);
  // Returns true if there are so many states that FindEnded should be called again.
  bool HasManyStates() const { return states_.size() >= next_cleanup_size_; }

 private:
  struct Facts {
    ThreadView view{};
    std::uint32_t part = 0;  // part in which the thread was last defined
  };
  void ForgetEnded();

  const RingReader& ring_;
  // Declared before states_, because the states use it until they are destroyed.
  std::size_t numbers_left_ = kMostForwardOperators;
  std::unordered_map<std::uint32_t, ThreadState> states_;
  std::pair<std::uint64_t, std::uint32_t> found_{};  // the last result of FindByTorchId
  std::unordered_map<std::uint32_t, Facts> facts_;
  std::size_t next_cleanup_size_ = 64;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_STATE_THREADS_H_
