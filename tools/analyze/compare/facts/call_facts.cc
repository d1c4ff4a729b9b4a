#include "tools/analyze/compare/facts/call_facts.h"

#include <utility>

#include "tools/model/capture.h"

namespace memoir {
namespace {

constexpr std::string_view kStep = "Optimizer.step#", kZeroGradient = "Optimizer.zero_grad#";

}  // namespace

void CallFactsPass::OnProcessBegin(const ProcessEvent&) {
  open_.clear();
  calls_.clear();
}

void CallFactsPass::OnEnd(const ReplayReport&) {
  for (const auto& [id, counts] : uses_) {
    const Module& module = state_->dictionary().module(id);
    ModuleUse& use = facts_.modules[module.full_path()];
    use.module = module;
    use.calls.with_autograd += counts.with_autograd;
    use.calls.without_autograd += counts.without_autograd;
  }
}

void CallFactsPass::OnModuleEnter(const ModuleEvent& event) {
  if (event.again || event.phase != Phase::kForward) return;
  std::vector<OpenCall>& open = open_[event.thread];
  if (event.depth == 0) {
    open.clear();
    ++calls_[event.module];
  }
  OpenCall& call = open.emplace_back();
  call.module = event.module;
}

void CallFactsPass::OnModuleExit(const ModuleEvent& event) {
  const auto found = open_.find(event.thread);
  if (found == open_.end() || found->second.empty() || found->second.back().module != event.module) return;
  const OpenCall call = found->second.back();
  found->second.pop_back();
  uses_[call.module].Add(call.has_autograd);
  if (found->second.empty()) {
    NoteCaller(call);
  } else if (call.has_autograd) {
    found->second.back().has_autograd = true;
  }
}

void CallFactsPass::NoteCaller(const OpenCall& call) {
  if (!call.stack.valid()) return;
  const SourceLine line = CallerOf(call.stack);
  if (!line.known()) return;
  const std::string model = state_->dictionary().module(call.module).full_path();
  Caller& caller = facts_.models[model].callers[ToString(line)];
  caller.line = line;
  caller.calls.Add(call.has_autograd);
}

void CallFactsPass::OnRangeBegin(const RangeBeginEvent& event) {
  const OpenRange& range = *event.range;
  const std::string_view name = range.name.valid() ? state_->dictionary().text(range.name) : "";
  if (range.source == RangeSource::kUser) {
    NoteRangeOfOptimizer(name);
    return;
  }
  if (range.user_name.valid() && (name == "aten::zero_" || name == "aten::_foreach_zero_")) {
    const bool is_of_optimizer = state_->dictionary().text(range.user_name).starts_with(kZeroGradient);
    facts_.gradients.set_to_zero = facts_.gradients.set_to_zero || is_of_optimizer;
  }
  if (range.phase == Phase::kBackward && range.is_operator) NoteBackward(range, name);
  const auto found = open_.find(event.thread);
  // torch numbers an operator only while autograd is on.
  if (found == open_.end() || found->second.empty() || !range.is_operator || range.sequence < 0) return;
  found->second.back().has_autograd = true;
  StackId& stack = found->second.front().stack;
  if (!stack.valid()) stack = range.callstack;
}

void CallFactsPass::OnAllocate(const AllocateEvent& event) {
  const auto found = open_.find(event.thread);
  if (found == open_.end() || found->second.empty()) return;
  StackId& stack = found->second.front().stack;
  if (!stack.valid()) stack = event.block->callstack;
}

void CallFactsPass::NoteBackward(const OpenRange& range, std::string_view name) {
  facts_.has_backward_with_autograd = facts_.has_backward_with_autograd || range.sequence >= 0;
  const bool is_sparse = name == "aten::embedding_sparse_backward" || name == "aten::_embedding_bag_sparse_backward";
  if (!is_sparse || !range.module.valid()) return;
  const Module& module = state_->dictionary().module(range.module);
  facts_.sparse.emplace(module.full_path(), module);
}

void CallFactsPass::NoteRangeOfOptimizer(std::string_view name) {
  if (name.starts_with(kZeroGradient) && facts_.steps > 0)
    (calls_.empty() ? facts_.gradients.freed_before_forward : facts_.gradients.freed_after_forward) = true;
  if (!name.starts_with(kStep)) return;
  ++facts_.steps;
  for (const auto& [module, count] : calls_)
    ++facts_.models[state_->dictionary().module(module).full_path()].calls_in_step[count];
  calls_.clear();
}

// Returns the line that called the outermost module: the caller of the outermost frame in which torch calls a module.
SourceLine CallFactsPass::CallerOf(StackId stack) {
  const Dictionary& dictionary = state_->dictionary();
  StackId caller;
  for (StackId id = stack; id.valid(); id = dictionary.stack(id).parent) {
    const std::string_view file = dictionary.code(dictionary.stack(id).frame.code).file;
    if (file.ends_with("torch/nn/modules/module.py")) caller = dictionary.stack(id).parent;
  }
  return lines_.LineOf(caller, dictionary);
}

}  // namespace memoir
