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

void CallFactsPass::OnModuleEnter(const ModuleEvent& event) {
  if (event.depth != 0 || event.again || event.phase != Phase::kForward) return;
  OpenCall& call = open_[event.thread];
  call = {};
  call.module = event.module;
  ++calls_[event.module];
}

void CallFactsPass::OnModuleExit(const ModuleEvent& event) {
  const auto found = open_.find(event.thread);
  if (event.depth != 0 || found == open_.end()) return;
  const OpenCall call = std::exchange(found->second, {});
  if (!call.module.valid() || !call.has_operator || !call.stack.valid()) return;
  const SourceLine line = CallerOf(call.stack);
  if (!line.known()) return;
  const std::string model = state_->dictionary().module(call.module).full_path();
  Caller& caller = facts_.models[model].callers[ToString(line)];
  caller.line = line;
  ++(call.has_autograd ? caller.with_autograd : caller.without_autograd);
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
  const auto found = open_.find(event.thread);
  if (found == open_.end() || !found->second.module.valid() || !range.is_operator) return;
  OpenCall& call = found->second;
  call.has_operator = true;
  // torch numbers an operator only while autograd is on.
  if (range.sequence < 0) return;
  call.has_autograd = true;
  if (!call.stack.valid()) call.stack = range.callstack;
}

void CallFactsPass::OnAllocate(const AllocateEvent& event) {
  const auto found = open_.find(event.thread);
  if (found != open_.end() && !found->second.stack.valid()) found->second.stack = event.block->callstack;
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

// The line that calls the outermost module is outside of all frames in which torch calls a module.
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
