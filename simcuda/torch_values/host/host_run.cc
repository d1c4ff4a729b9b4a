#include "simcuda/torch_values/host/host_run.h"

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include "interpose/system/own_work.h"
#include "simcuda/torch_values/host/one_host_thread.h"
#include "simcuda/torch_values/memory/host_alias.h"

namespace memoir {
namespace {

class Silence : public c10::WarningHandler {
 public:
  void process(const c10::Warning&) override {}
};

// Hides the profiler from this thread, because torch's allocators would report to it.
class NoProfiler {
 public:
  NoProfiler() : carried_(c10::ThreadLocalDebugInfo::current()) {
    if (carried_ != nullptr) c10::ThreadLocalDebugInfo::_forceCurrentDebugInfo(nullptr);
  }
  ~NoProfiler() {
    if (carried_ != nullptr) c10::ThreadLocalDebugInfo::_forceCurrentDebugInfo(std::move(carried_));
  }
  NoProfiler(const NoProfiler&) = delete;
  NoProfiler& operator=(const NoProfiler&) = delete;

 private:
  std::shared_ptr<c10::ThreadLocalDebugInfo> carried_;
};

class UnseenWork {
 public:
  UnseenWork()
      : keys_(c10::DispatchKeySet(c10::DispatchKey::BackendSelect),
              c10::default_excluded_set | c10::autograd_dispatch_keyset | c10::autocast_dispatch_keyset |
                  c10::DispatchKeySet(c10::DispatchKey::ADInplaceOrView)),
        warnings_(&silence_) {
    if (at::hasCallbacks()) ranges_.emplace(false);
  }

 private:
  Silence silence_;
  const OwnWork own_work_;
  const NoProfiler no_profiler_;
  const OneHostThread thread_;
  const c10::impl::ForceDispatchKeyGuard keys_;
  const c10::WarningUtils::WarningHandlerGuard warnings_;
  std::optional<at::RecordFunctionGuard> ranges_;
};

at::Tensor OnHost(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_cuda() ? HostAlias(tensor) : tensor;
}

c10::IValue OnHost(const c10::IValue& value) {
  if (value.isTensor()) return OnHost(value.toTensor());
  if (value.isDevice() && value.toDevice().is_cuda()) return c10::Device(c10::DeviceType::CPU);
  if (value.isTensorList()) {
    c10::List<at::Tensor> tensors;
    for (const at::Tensor& tensor : value.toTensorVector()) tensors.push_back(OnHost(tensor));
    return tensors;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> tensors;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector())
      tensors.push_back(tensor.has_value() ? std::optional<at::Tensor>(OnHost(*tensor)) : std::nullopt);
    return tensors;
  }
  return value;
}

bool Holds(const c10::IValue& argument, const at::Tensor& tensor) {
  const auto same = [&](const at::Tensor& other) {
    return other.defined() && other.has_storage() && other.is_alias_of(tensor);
  };
  if (argument.isTensor()) return same(argument.toTensor());
  if (!argument.isTensorList()) return false;
  for (const at::Tensor& element : argument.toTensorVector()) {
    if (same(element)) return true;
  }
  return false;
}

void Write(const at::Tensor& from, const at::Tensor& to, IValues arguments) {
  if (!from.defined() || !to.defined() || !to.is_cuda() || !IsSmall(to)) return;
  if (from.sizes() != to.sizes() || from.dtype() != to.dtype() || to.numel() == 0) return;
  for (const c10::IValue& argument : arguments) {
    if (Holds(argument, to)) return;  // the result is one of the arguments, even if the schema does not declare this
  }
  if (!MarkKnown(to)) return;
  if (from.is_contiguous() && to.is_contiguous()) {
    std::memcpy(const_cast<void*>(to.const_data_ptr()), from.const_data_ptr(), to.nbytes());
  } else {
    HostAlias(to).copy_(from);
  }
}

}  // namespace

std::optional<HostResults> RunOnHost(const c10::OperatorHandle& op, const OperatorPlan& plan, IValues arguments,
                                     const at::Generator& generator) {
  const UnseenWork unseen;
  torch::jit::Stack stack;
  stack.reserve(arguments.size());
  try {
    for (const c10::IValue& argument : arguments) stack.push_back(OnHost(argument));
    if (plan.generator >= 0) stack[static_cast<std::size_t>(plan.generator)] = generator;
    if (plan.equivalent != nullptr) return plan.equivalent->run(stack, generator);
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
    return stack;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void Release(std::optional<HostResults>& results) {
  if (!results.has_value()) return;
  const UnseenWork unseen;
  results.reset();
}

void WriteResult(const c10::IValue& host, const c10::IValue& device, IValues arguments) {
  const UnseenWork unseen;
  if (host.isTensor() && device.isTensor()) return Write(host.toTensor(), device.toTensor(), arguments);
  if (!host.isTensorList() || !device.isTensorList()) return;
  const auto from = host.toTensorVector(), to = device.toTensorVector();
  for (std::size_t i = 0; i < from.size() && i < to.size(); ++i) Write(from[i], to[i], arguments);
}

}  // namespace memoir
