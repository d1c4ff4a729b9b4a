#include "simcuda/torch_values/operators/computed_call.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstring>

#include "simcuda/torch_values/memory/host_alias.h"

namespace memoir {
namespace {

IValues Top(const torch::jit::Stack& stack, std::size_t count) {
  return IValues(stack.data() + stack.size() - count, count);
}

// Calls `visit` for each defined tensor in `value`, until `visit` returns false.
template <typename Visit>
bool EachTensor(const c10::IValue& value, const Visit& visit) {
  if (value.isTensor()) return !value.toTensor().defined() || visit(value.toTensor());
  if (!value.isList()) return true;
  for (const c10::IValue& element : value.toListRef()) {
    if (element.isTensor() && element.toTensor().defined() && !visit(element.toTensor())) return false;
  }
  return true;
}

// Sets *device to the GPU of the call: the device of a tensor, or the device argument of an operator that makes a
// tensor.
bool FindDevice(IValues arguments, c10::Device* device) {
  for (const c10::IValue& argument : arguments) {
    if (argument.isDevice() && argument.toDevice().is_cuda()) {
      *device = argument.toDevice();
      return true;
    }
    const bool none = EachTensor(argument, [&](const at::Tensor& tensor) {
      if (tensor.is_cuda()) *device = tensor.device();
      return !tensor.is_cuda();
    });
    if (!none) return true;
  }
  return false;
}

bool CanBeComputed(const OperatorPlan& plan, IValues arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (plan.uses[i] == ArgumentUse::kUnread) continue;
    const bool read = plan.uses[i] != ArgumentUse::kOverwritten;
    const bool fits = EachTensor(arguments[i], [&](const at::Tensor& tensor) {
      return IsSmall(tensor) && (!read || !tensor.is_cuda() || IsKnown(tensor));
    });
    if (!fits) return false;
  }
  return true;
}

// Returns true for a copy between host and device. The simulated device itself makes such copies.
bool CrossesDevices(const OperatorPlan& plan, IValues arguments) {
  return plan.copies && arguments[0].toTensor().device().type() != arguments[1].toTensor().device().type();
}

}  // namespace

ComputedCall::ComputedCall(const c10::OperatorHandle& op, const OperatorPlan& plan, const torch::jit::Stack& stack)
    : op_(op), plan_(plan) {
  const IValues arguments = Top(stack, plan.uses.size());
  if (CrossesDevices(plan, arguments)) return;
  const bool now = FindDevice(arguments, &device_) && !IsCapturing();
  computed_ = now && plan.computed && CanBeComputed(plan, arguments);
  draws_ = now && plan.draws;
  if (computed_ || plan.shape != nullptr) {
    arguments_.assign(arguments.begin(), arguments.end());
  } else {  // keeps only the arguments that the operator writes
    for (std::size_t i = 0; i < arguments.size(); ++i)
      arguments_.push_back(Writes(plan.uses[i]) ? arguments[i] : c10::IValue());
  }
  if (!draws_) return;
  if (plan.generator >= 0) {
    const c10::IValue& given = arguments[static_cast<std::size_t>(plan.generator)];
    if (given.isGenerator()) generator_ = given.toGenerator();
  }
  position_ = PositionOf(generator_, device_);
}

std::optional<AnswerGuard> ComputedCall::Prepare() {
  if (arguments_.empty()) return std::nullopt;
  if (!computed_) MarkWrittenUnknown();
  if (plan_.shape == nullptr) {
    if (computed_) SaveUpdated();
    return std::nullopt;
  }
  if (computed_) Run();
  if (computed_ && !results_.has_value()) computed_ = false;
  const ShapeAnswers answers =
      plan_.shape(arguments_, results_.has_value() ? IValues(*results_) : IValues(), TakesMost());
  if (answers.is_decision) CountUnknownShape(plan_.name.c_str());
  if (answers.count == 0) return std::nullopt;
  return std::optional<AnswerGuard>(std::in_place, answers.values.data(), answers.count);
}

void ComputedCall::Finish(torch::jit::Stack& stack, bool worked) {
  const IValues results = Top(stack, plan_.fresh.size());
  if (computed_ && !results_.has_value()) {
    RestoreUpdated();
    if (ResultsAreSmall(results) && MarkWrittenKnown()) Run();
    if (!results_.has_value()) MarkWrittenUnknown();
  }
  if (draws_) {
    const RandomPosition after = PositionOf(generator_, device_);
    if (!results_.has_value())
      KeepHostGenerator(HostGeneratorAt(position_), after);
    else
      KeepHostGenerator(host_generator_, after);
  }
  if (!results_.has_value()) {
    // Launches of the kernel itself write nothing, so its results are unknown. An operator that the kernel called may
    // have marked them as known: for example, the operator fills a result, and a launch would then have added to it.
    if (worked) {
      MarkWrittenUnknown();
      MarkFreshUnknown(results);
    }
    return;
  }
  for (std::size_t i = 0; i < results.size() && i < results_->size(); ++i) {
    if (plan_.fresh[i]) WriteResult((*results_)[i], results[i], arguments_);
  }
  if (plan_.answers) stack.back() = results_->front();
}

void ComputedCall::Run() {
  if (draws_) host_generator_ = HostGeneratorAt(position_);
  results_ = RunOnHost(op_, plan_, arguments_, host_generator_);
  // torch's kernel runs later, and the operators that it calls may also draw numbers from this thread's generator.
  if (draws_ && plan_.shape != nullptr) host_generator_ = host_generator_.clone();
}

// Saves the arguments that the operator updates. torch's kernel may change these arguments, by real copies or by
// operators that are computed. Finish restores them before the host updates them, so that the update is made only once.
void ComputedCall::SaveUpdated() {
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (plan_.uses[i] != ArgumentUse::kUpdated) continue;
    EachTensor(arguments_[i], [&](const at::Tensor& tensor) {
      if (tensor.is_cuda()) saved_.push_back({tensor, CopyOfBytes(tensor)});
      return true;
    });
  }
}

void ComputedCall::RestoreUpdated() {
  for (const SavedTensor& saved : saved_) PutBytes(saved.tensor, saved.bytes);
}

bool ComputedCall::MarkWrittenKnown() {
  bool room = true;
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (!Writes(plan_.uses[i])) continue;
    EachTensor(arguments_[i], [&](const at::Tensor& tensor) {
      room = room && (!tensor.is_cuda() || (IsSmall(tensor) && MarkKnown(tensor)));
      return room;
    });
  }
  return room;
}

void ComputedCall::MarkWrittenUnknown() {
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (!Writes(plan_.uses[i])) continue;
    EachTensor(arguments_[i], [](const at::Tensor& tensor) {
      if (tensor.is_cuda()) MarkUnknown(tensor);
      return true;
    });
  }
}

void ComputedCall::MarkFreshUnknown(IValues results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!plan_.fresh[i]) continue;
    EachTensor(results[i], [](const at::Tensor& tensor) {
      if (tensor.is_cuda()) MarkUnknown(tensor);
      return true;
    });
  }
}

bool ComputedCall::ResultsAreSmall(IValues results) const {
  return std::ranges::all_of(results, [](const c10::IValue& result) {
    return EachTensor(result, [](const at::Tensor& tensor) { return IsSmall(tensor); });
  });
}

}  // namespace memoir
