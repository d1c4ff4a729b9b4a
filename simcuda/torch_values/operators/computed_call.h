// One call of an operator on the simulated GPU. Prepares the call before torch's kernel runs, and writes the results
// after the kernel has run.
//
//   ComputedCall ─► Prepare ─► torch's kernel for CUDA ─► Finish
//
// Used on the thread of the call. Calls are nested, because kernels call other operators.
#ifndef SIMCUDA_TORCH_VALUES_OPERATORS_COMPUTED_CALL_H_
#define SIMCUDA_TORCH_VALUES_OPERATORS_COMPUTED_CALL_H_

#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <utility>
#include <vector>

#include "simcuda/torch_values/host/host_run.h"
#include "simcuda/torch_values/host/operator_plan.h"
#include "simcuda/torch_values/host/random_state.h"
#include "simcuda/torch_values/memory/simulated_memory.h"

namespace memoir {

class ComputedCall {
 public:
  // `stack` ends with the arguments. Decides whether the call is computed. A call is computed if the host can compute
  // the operator, if the arguments are small, and if the values that the operator reads are known.
  ComputedCall(const c10::OperatorHandle& op, const OperatorPlan& plan, const torch::jit::Stack& stack);
  ~ComputedCall() { Release(results_); }
  ComputedCall(const ComputedCall&) = delete;
  ComputedCall& operator=(const ComputedCall&) = delete;

  // If the shape of a result depends on values, sets the values that the kernel will read from the device. If the call
  // is not computed, marks the bytes that the operator writes as unknown; operators that the kernel calls may make them
  // known again.
  std::optional<AnswerGuard> Prepare();

  // `stack` ends with the results. `worked`: the operator's own code launched a CUDA kernel, or called a library such
  // as cuBLAS. The work of other operators that it called does not count.
  void Finish(torch::jit::Stack& stack, bool worked);

 private:
  struct SavedTensor {
    at::Tensor tensor;
    std::vector<char> bytes;
  };

  void SaveUpdated();
  void RestoreUpdated();
  bool MarkWrittenKnown();
  void MarkWrittenUnknown();
  void MarkFreshUnknown(IValues results);
  bool ResultsAreSmall(IValues results) const;
  void Run();

  const c10::OperatorHandle& op_;
  const OperatorPlan& plan_;
  std::vector<c10::IValue> arguments_;  // only those that are needed after the kernel; the others are empty
  bool computed_ = false;
  bool draws_ = false;
  at::Generator generator_;       // the argument; undefined: the device's default generator
  at::Generator host_generator_;  // the host generator from which this call has drawn
  c10::Device device_{c10::DeviceType::CUDA, 0};
  RandomPosition position_;
  std::vector<SavedTensor> saved_;
  std::optional<HostResults> results_;
};

}  // namespace memoir

#endif  // SIMCUDA_TORCH_VALUES_OPERATORS_COMPUTED_CALL_H_
