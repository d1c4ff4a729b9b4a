#include "tools/analyze/compare/facts/program_facts.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/model/event/held_tensor_lists.h"

namespace memoir {
namespace {

constexpr std::string_view kStep = "Optimizer.step#";

// Returns "AdamW" for "Optimizer.step#AdamW.step".
std::string_view OptimizerOf(std::string_view range) {
  range.remove_prefix(kStep.size());
  return range.substr(0, range.rfind('.'));
}

bool IsOutermost(const OpenRange& range) {
  return range.is_operator && range.outermost_operator == static_cast<std::int32_t>(range.depth);
}

bool IsExpanded(const Layout& layout) {
  for (std::size_t i = 0; i < std::min(layout.sizes.size(), layout.strides.size()); ++i) {
    if (layout.sizes[i] > 1 && layout.strides[i] == 0) return true;
  }
  return false;
}

}  // namespace

std::uint64_t TensorShape::elements() const {
  std::uint64_t product = 1;
  for (const std::int64_t size : sizes) {
    if (size <= 0) return 0;
    const auto factor = static_cast<std::uint64_t>(size);
    product = product > UINT64_MAX / factor ? UINT64_MAX : product * factor;
  }
  return product;
}

std::string ToString(const TensorShape& shape) {
  return absl::StrCat(shape.dtype, "[", absl::StrJoin(shape.sizes, ", "), "]");
}

std::set<SizePair> ChangedSizes(const TensorShape& a, const TensorShape& b) {
  std::set<SizePair> changed;
  if (a.sizes.size() != b.sizes.size()) return changed;
  for (std::size_t i = 0; i < a.sizes.size(); ++i) {
    if (a.sizes[i] != b.sizes[i] && a.sizes[i] > 0 && b.sizes[i] > 0) changed.insert({a.sizes[i], b.sizes[i]});
  }
  return changed;
}

const TensorShape& ProgramFactsPass::ShapeOf(LayoutId id) {
  const auto [found, is_new] = shapes_.try_emplace(id);
  if (is_new) {
    const Layout& layout = state_->dictionary().layout(id);
    found->second = {layout.dtype_name, layout.sizes};
  }
  return found->second;
}

void ProgramFactsPass::OnModuleEnter(const ModuleEvent& event) {
  if (!event.module.valid()) return;
  const bool is_outermost = event.depth == 0 && !event.again && !event.of_gradient;
  if (is_outermost && event.phase == Phase::kForward) {
    threads_[event.thread].root = event.module;
    threads_[event.thread].made.clear();
  }
  if (event.phase != Phase::kRecompute || !recomputed_.insert(event.module).second) return;
  const Module& module = state_->dictionary().module(event.module);
  facts_.recomputed.emplace(module.full_path(), module);
}

void ProgramFactsPass::OnModuleExit(const ModuleEvent& event) {
  if (event.depth == 0) threads_[event.thread].root = {};
}

void ProgramFactsPass::OnHolds(const HeldTensorsEvent& event) {
  if (!event.signature.valid() || event.is_gradient) return;
  Thread& thread = threads_[event.thread];
  if (!event.more) {
    thread.holder = event.module;
    thread.is_module = event.is_module;
    thread.listed = 0;
  }
  if (thread.is_module) {
    NoteParameters(event, thread);
  } else if (!event.more) {
    NoteStates(event);
  }
}

void ProgramFactsPass::NoteStates(const HeldTensorsEvent& event) {
  HeldTensorLists lists(event, state_->dictionary());
  const std::size_t parameters = lists.Next().size();
  lists.Next();  // gradients
  for (std::size_t i = 0; i < parameters; ++i) {
    const auto states = std::ranges::count_if(lists.Next(), [&](const Tensor& tensor) {
      return tensor.layout.valid() && !ShapeOf(tensor.layout).sizes.empty();
    });
    facts_.states_of_parameter = std::max(facts_.states_of_parameter.value_or(0), static_cast<std::size_t>(states));
  }
}

void ProgramFactsPass::NoteParameters(const HeldTensorsEvent& event, Thread& thread) {
  HeldTensorLists lists(event, state_->dictionary());
  const absl::Span<const Tensor> parameters = lists.Next();
  lists.Next();  // gradients
  for (const Tensor& buffer : lists.Next()) held_.insert(buffer.impl);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& tensor = parameters[i];
    const std::uint32_t position = thread.listed++;
    held_.insert(tensor.impl);
    if (tensor.impl == 0 || !tensor.layout.valid() || !thread.holder.valid()) continue;
    std::string name(i < event.names.size() ? state_->dictionary().text(event.names[i]) : "");
    if (name.empty()) name = absl::StrCat(position);
    const auto [known, is_new] = parameters_.try_emplace({thread.holder, name}, facts_.parameters.size());
    if (is_new) facts_.parameters.push_back({state_->dictionary().module(thread.holder), name, {}, 0, false, 0});
    SeenParameter& seen = facts_.parameters[known->second];
    seen.shape = ShapeOf(tensor.layout);
    seen.bytes = tensor.storage_bytes;
    seen.impl = tensor.impl;
    seen.is_trained = seen.is_trained || tensor.wants_gradient;
  }
}

void ProgramFactsPass::OnRangeBegin(const RangeBeginEvent& event) {
  const OpenRange& range = *event.range;
  if (IsOutermost(range)) threads_[event.thread].allocated = {};
  if (range.source == RangeSource::kUser && range.name.valid()) {
    const std::string_view name = state_->dictionary().text(range.name);
    if (name.starts_with(kStep)) facts_.optimizers.emplace(OptimizerOf(name));
    return;
  }
  const auto found = threads_.find(event.thread);
  if (found == threads_.end() || !found->second.root.valid()) return;
  for (const Tensor& tensor : event.tensors) {
    const bool is_input = tensor.impl != 0 && tensor.layout.valid() && !tensor.wants_gradient &&
                          !held_.contains(tensor.impl) && !ShapeOf(tensor.layout).sizes.empty() &&
                          !found->second.made.contains(tensor.storage);
    if (!is_input) continue;
    ++facts_.inputs[state_->dictionary().module(found->second.root).full_path()][ShapeOf(tensor.layout)];
    found->second.root = {};
    return;
  }
}

void ProgramFactsPass::OnAllocate(const AllocateEvent& event) {
  Thread& thread = threads_[event.thread];
  thread.allocated = event.block->callstack;
  if (thread.root.valid()) thread.made.insert(event.block->address);
}

// Returns the stack of the operator `range`. Invalid if it is unknown: the tracker reads the stack only if the operator
// allocates or autograd is on. Otherwise OpenRange::callstack may be the stack of an earlier operator.
StackId ProgramFactsPass::StackOf(const OpenRange& range, ThreadId thread) {
  const StackId allocated = std::exchange(threads_[thread].allocated, {});
  if (range.forward_callstack.valid()) return range.forward_callstack;
  return range.sequence >= 0 ? range.callstack : allocated;
}

void ProgramFactsPass::OnRangeEnd(const RangeEndEvent& event) {
  const OpenRange& range = *event.range;
  if (!IsOutermost(range)) return;
  const StackId stack = StackOf(range, event.thread);
  if (event.tensors.empty() || !stack.valid()) return;
  for (const Tensor& tensor : event.tensors) {
    if (tensor.storage == 0 || !tensor.layout.valid()) continue;
    if (!seen_results_.insert({{stack, range.name}, tensor.layout}).second) continue;
    if (IsExpanded(state_->dictionary().layout(tensor.layout))) continue;
    const SourceLine line = lines_.LineOf(stack, state_->dictionary());
    const ResultPlace place(ToString(line), state_->dictionary().text(range.name));
    const auto [found, is_new] = facts_.results.try_emplace(place);
    SeenResult& seen = found->second;
    if (is_new) seen.line = line;
    const bool is_of_forward = range.innermost_backward < 0 && range.innermost_optimizer < 0;
    if (is_of_forward && seen.order == 0) seen.order = ++results_;
    if (ShapeOf(tensor.layout).elements() > seen.shape.elements()) seen.shape = ShapeOf(tensor.layout);
  }
}

}  // namespace memoir
