// Bounds the processor time of a reader that follows a recording for hours. Time that the reader does not use in quiet
// periods is saved, so that the reader can later read chunks in full. Without saved time, the reader skips operators
// (Chunk::is_skimmed).
#ifndef TOOLS_FOLLOW_CPU_BUDGET_H_
#define TOOLS_FOLLOW_CPU_BUDGET_H_

#include <cstdint>

namespace memoir {

class CpuBudget {
 public:
  // `share` is the share of one processor: 0.02 is 2 %; above 1 there is no bound. `credit_ns` is the time that is
  // saved at the start. This time is needed for the begin of a recording, which lists the tensors of modules and
  // optimizers.
  explicit CpuBudget(double share, std::int64_t credit_ns = kCreditNs) : share_(share), saved_ns_(credit_ns) {}

  // Adds the share of the time since the last call. `now_ns` is a reading of any clock that never goes backward.
  void AdvanceTo(std::uint64_t now_ns);
  // Returns true if the next chunk should be read in full, with its operators.
  bool ReadsInFull() const { return share_ > 1 || full_; }
  // Subtracts the processor time that reading a chunk took.
  void Spend(std::uint64_t cpu_ns, bool in_full);
  // Sets how many chunks all processes together write in one step. Reading in full begins when the saved time suffices
  // for a step.
  void SetChunksOfStep(std::uint64_t chunks) { chunks_of_step_ = chunks; }

 private:
  static constexpr std::int64_t kCreditNs = 1'000'000'000;
  // Limits of saved and owed time, as wall-clock time to be multiplied by share_.
  static constexpr double kMostSavedNs = 120e9, kMostOwedNs = 20e9;

  double share_;
  std::int64_t saved_ns_;
  std::uint64_t last_ns_ = 0;
  std::uint64_t full_cost_ns_ = 0;  // cost of the newest chunk that was read in full
  std::uint64_t chunks_of_step_ = 1;
  bool full_ = true;
};

}  // namespace memoir

#endif  // TOOLS_FOLLOW_CPU_BUDGET_H_
