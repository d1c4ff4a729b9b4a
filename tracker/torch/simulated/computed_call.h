// One call of an operator on the simulated GPU: what is to be known before its kernel runs, and what is written after.
//
//   ComputedCall ─► Prepare ─► torch's kernel for CUDA ─► Finish
//
// On the thread of the call; calls nest, as kernels call other operators.
#ifndef TRACKER_TORCH_SIMULATED_COMPUTED_CALL_H_
#define TRACKER_TORCH_SIMULATED_COMPUTED_CALL_H_

#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <utility>
#include <vector>

#include "tracker/torch/simulated/device_memory.h"
#include "tracker/torch/simulated/host_run.h"
#include "tracker/torch/simulated/operator_plan.h"
#include "tracker/torch/simulated/random_state.h"

namespace memoir {

class ComputedCall {
 public:
  // `stack` ends with the arguments. Decides whether the call is computed: it can be, the arguments are small, and what
  // it reads of them is known.
  ComputedCall(const c10::OperatorHandle& op, const OperatorPlan& plan, const torch::jit::Stack& stack);
  ~ComputedCall() { Release(results_); }
  ComputedCall(const ComputedCall&) = delete;
  ComputedCall& operator=(const ComputedCall&) = delete;

  // What the kernel is to find: its counts, where a shape depends on them. If the call is not computed, what it is
  // about to write is unknown from now on; operators that the kernel calls may know better.
  std::optional<AnswerGuard> Prepare();

  // `stack` ends with the results. `worked`: the kernel launched something itself, not only through operators.
  void Finish(torch::jit::Stack& stack, bool worked);

 private:
  struct Saved {
    at::Tensor tensor;
    std::vector<char> bytes;
  };

  void SaveUpdated();
  void RestoreUpdated();
  bool KnowWritten();
  void ForgetWritten();
  void ForgetFresh(IValues results);
  bool ResultsAreSmall(IValues results) const;
  void Run();

  const c10::OperatorHandle& op_;
  const OperatorPlan& plan_;
  std::vector<c10::IValue> arguments_;  // kept only where they are needed after the kernel
  bool computed_ = false;
  bool draws_ = false;
  at::Generator generator_;       // as given; undefined: the default one
  at::Generator host_generator_;  // that was drawn from
  c10::Device device_{c10::DeviceType::CUDA, 0};
  RandomPosition position_;
  std::vector<Saved> saved_;
  std::optional<HostResults> results_;
};

}  // namespace memoir

#endif  // TRACKER_TORCH_SIMULATED_COMPUTED_CALL_H_
