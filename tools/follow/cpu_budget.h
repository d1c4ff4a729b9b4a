// How much of a processor a reader may take that follows a recording for hours: what it saves while little happens, it
// may spend on reading everything; else it reads memory alone (Chunk::memory_alone).
#ifndef TOOLS_FOLLOW_CPU_BUDGET_H_
#define TOOLS_FOLLOW_CPU_BUDGET_H_

#include <cstdint>

namespace memoir {

class CpuBudget {
 public:
  // `share` of one processor: 0.02 is 2 %. More than 1: no bound. `credit_ns`: what may be spent at once, for the
  // beginning of a recording, in which a program says what its modules and optimizers hold.
  explicit CpuBudget(double share, std::int64_t credit_ns = kCreditNs) : share_(share), saved_ns_(credit_ns) {}

  // Time has passed; `now_ns`: of any clock that never goes backward.
  void Tick(std::uint64_t now_ns);
  // Whether the next chunk is read in full.
  bool InFull() const { return share_ > 1 || full_; }
  // What reading a chunk took.
  void Spend(std::uint64_t cpu_ns, bool in_full);
  // How many chunks a whole step takes, of all processes together: reading in full begins when it can go on so long.
  void SetChunksOfStep(std::uint64_t chunks) { chunks_of_step_ = chunks; }

 private:
  static constexpr std::int64_t kCreditNs = 1'000'000'000;
  // Saved at most, in time that passes; owed likewise.
  static constexpr double kMostSavedNs = 120e9, kMostOwedNs = 20e9;

  double share_;
  std::int64_t saved_ns_;
  std::uint64_t last_ns_ = 0;
  std::uint64_t full_cost_ns_ = 0;  // of a chunk, the newest
  std::uint64_t chunks_of_step_ = 1;
  bool full_ = true;
};

}  // namespace memoir

#endif  // TOOLS_FOLLOW_CPU_BUDGET_H_
