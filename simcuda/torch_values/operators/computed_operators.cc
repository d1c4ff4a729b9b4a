#include "simcuda/torch_values/operators/computed_operators.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "simcuda/torch_values/host/operator_plan.h"
#include "simcuda/torch_values/memory/reused_blocks.h"
#include "simcuda/torch_values/memory/simulated_memory.h"
#include "simcuda/torch_values/operators/computed_call.h"

namespace memoir {
namespace {

constexpr c10::DispatchKey kKey = c10::DispatchKey::CUDA;

// A kernel that replaces one of torch's kernels for CUDA, and calls it.
class Wrapper : public c10::OperatorKernel {
 public:
  Wrapper(c10::SafeKernelFunction inner, OperatorPlan plan) : inner_(std::move(inner)), plan_(std::move(plan)) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
    ComputedCall call(op, plan_, *stack);
    bool worked = false;
    {
      const std::optional<AnswerGuard> answers = call.Prepare();
      OperatorGuard mine;
      inner_.callBoxed(op, keys, stack);
      worked = mine.End();
    }
    FollowReusedBlocks();
    call.Finish(*stack, worked);
  }

 private:
  const c10::SafeKernelFunction inner_;
  const OperatorPlan plan_;
};

// Wraps operators that allocate memory and write no values. Their first call shows that the allocator exists.
class Follower : public c10::OperatorKernel {
 public:
  explicit Follower(c10::SafeKernelFunction inner) : inner_(std::move(inner)) {}
  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
    inner_.callBoxed(op, keys, stack);
    FollowReusedBlocks();
  }

 private:
  const c10::SafeKernelFunction inner_;
};

// Suppresses torch's warning about replaced kernels.
class Silence : public c10::WarningHandler {
 public:
  void process(const c10::Warning&) override {}
};

template <typename Kernel>
void Put(const c10::OperatorHandle& op, std::unique_ptr<Kernel> kernel) {
  // Never freed, because operators may run until the process ends.
  static auto* const kept = new std::vector<c10::RegistrationHandleRAII>;
  kept->push_back(c10::Dispatcher::singleton().registerImpl(
      op.operator_name(), kKey, c10::KernelFunction::makeFromBoxedFunctor(std::move(kernel)), std::nullopt, nullptr,
      "memoir"));
}

bool Allocates(const c10::OperatorHandle& op) {
  const std::string& name = op.operator_name().name;
  return (name == "aten::empty" || name == "aten::empty_strided") && op.hasKernelForDispatchKey(kKey);
}

}  // namespace

void ComputeSmallOperators() {
  Silence silence;
  const c10::WarningUtils::WarningHandlerGuard silent(&silence);
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    const std::optional<c10::OperatorHandle> op = dispatcher.findSchema(name);
    if (!op.has_value() || !op->hasComputedKernelForDispatchKey(kKey)) continue;
    if (Allocates(*op)) {
      Put(*op, std::make_unique<Follower>(op->getComputedKernelForDispatchKey(kKey)));
    } else if (WritesValues(*op)) {
      Put(*op, std::make_unique<Wrapper>(op->getComputedKernelForDispatchKey(kKey), PlanOf(*op)));
    }
  }
}

}  // namespace memoir
