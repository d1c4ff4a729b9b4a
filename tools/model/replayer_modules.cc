// The part of a replay that finds the module and the phase of what a thread does (docs/event_schema.md, "Modules").
//
// Two stacks nest in each other: modules that were called, and ranges. Whichever of the innermost module and the
// innermost backward range was opened last says where the thread is.
#include <algorithm>
#include <string_view>

#include "tools/model/replayer.h"

namespace memoir {
namespace {

constexpr std::size_t kMostOpenModules = 1u << 16;  // more are a damaged capture's

// Of the events of torch.compile (docs/event_schema.md) those in which it runs kernels to choose among them.
bool IsTuning(std::string_view name) {
  constexpr std::string_view kWords[] = {"autotun", "Autotun", "benchmark", "coordinate_descent"};
  return name.find('{') == std::string_view::npos &&
         std::ranges::any_of(kWords, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

}  // namespace

const Replayer::NameRoles& Replayer::LookAt(NameId name) {
  if (name.value >= name_roles_.size()) name_roles_.resize(name.value + 1);
  NameRoles& roles = name_roles_[name.value];
  const std::string_view text = dictionary_.text(name);
  RangeRole role;
  role.backward = text.starts_with("autograd::engine::");  // around a node
  role.region = text.starts_with("Torch-Compiled Region");
  role.compiled = role.region || text.starts_with("CompiledFunction");
  roles.of_others = role;
  role.optimizer = text.starts_with("Optimizer.step#") || text.starts_with("Optimizer.zero_grad#");
  role.compiling = text.starts_with("torch.compile: ");
  role.note = role.compiling && dictionary_.IsNote(name);
  role.tuning = role.compiling && IsTuning(text);
  roles.of_user = role;
  roles.accumulates = text == "torch::autograd::AccumulateGrad";
  roles.known = true;
  return roles;
}

ModuleContext Replayer::OwnContextOf(const ThreadReplay& thread) {
  const OpenRange* innermost = thread.innermost();
  if (innermost != nullptr && innermost->role.compiling) return {ModuleId(), Phase::kCompile};
  const std::int32_t backward = innermost == nullptr ? -1 : innermost->innermost_backward;
  const std::int32_t optimizer = innermost == nullptr ? -1 : innermost->innermost_optimizer;
  const OpenModule* module = thread.modules().empty() ? nullptr : &thread.modules().back();
  // Ranges from this depth on are inside the module.
  const std::int32_t inside = module == nullptr ? 0 : static_cast<std::int32_t>(module->depth);
  if (optimizer > backward && optimizer >= inside) return {ModuleId(), Phase::kOptimizer};
  if (module != nullptr && inside > backward)
    return {module->module, module->recompute ? Phase::kRecompute : Phase::kForward};
  if (backward >= 0) return {thread.stack()[static_cast<std::size_t>(backward)].module, Phase::kBackward};
  return {};
}

ModuleContext Replayer::ContextOf(const ThreadReplay& thread) {
  const ModuleContext own = OwnContextOf(thread);
  const ThreadReplay& working = WorkingThread(thread);
  ModuleContext context = own.phase != Phase::kOther || &working == &thread ? own : OwnContextOf(working);
  if (context.phase == Phase::kCompile) return context;
  context.module = ids_->ModuleAt(ids_->WorkingStack(thread.callstack, working.callstack), context.module);
  return context;
}

void Replayer::FindModule(ThreadReplay& thread) {
  OpenRange& range = *thread.range_at(static_cast<std::int32_t>(thread.stack().size()) - 1);
  if (range.source == RangeSource::kBackward) {
    const ForwardOperator forward = ForwardOperatorOf(range);
    range.module = forward.module;
    range.forward_callstack = forward.callstack;
    range.region = forward.region;
    range.phase = Phase::kBackward;
    // The engine's range around a node works for that node, before and after.
    OpenRange* around = thread.range_at(static_cast<std::int32_t>(range.depth) - 1);
    if (around != nullptr && around->role.backward && around->source != RangeSource::kBackward) {
      around->module = range.module;
      around->forward_callstack = range.forward_callstack;
      around->region = range.region;
    }
    return;
  }
  const ModuleContext context = range.role.backward ? ModuleContext{ModuleId(), Phase::kBackward} : ContextOf(thread);
  range.module = context.module;
  range.phase = context.phase;
  const bool forward = range.source == RangeSource::kFunction || range.source == RangeSource::kDispatch;
  if (!forward || range.role.backward || range.sequence < 0) return;
  const Callstacks callstacks = CallstacksOf(thread);
  const StackId callstack = callstacks.forward.valid() ? callstacks.forward : callstacks.own;
  thread.forward_operators().Note(range.sequence, {range.module, callstack, range.region});
}

ThreadReplay* Replayer::FindTorchThread(std::uint64_t torch_id) {
  if (torch_id == 0) return nullptr;
  auto found = torch_threads_.find(torch_id);
  if (found == torch_threads_.end()) {
    for (const std::unique_ptr<ThreadReplay>& thread : threads_) {
      if (thread != nullptr) torch_threads_[dictionary_.thread(thread->id()).torch_id] = thread->id();
    }
    // Not known yet, or never: do not look again at every node.
    found = torch_threads_.try_emplace(torch_id, ThreadId()).first;
  }
  return found->second.valid() ? &ThreadOf(found->second) : nullptr;
}

// Python code that a node runs has frames that the node did not have when it began; generated code belongs to forward.
// Native frames say nothing of that: what the node calls has others than the node, and has them in forward's line, too.
Callstacks Replayer::CallstacksOf(const ThreadReplay& thread) {
  const ThreadReplay& working = WorkingThread(thread);
  Callstacks callstacks{ids_->WorkingStack(thread.callstack, working.callstack), StackId()};
  const OpenRange* innermost = working.innermost();
  if (innermost == nullptr || innermost->innermost_backward < 0) return callstacks;
  const OpenRange& node = working.stack()[static_cast<std::size_t>(innermost->innermost_backward)];
  if (!node.forward_callstack.valid()) return callstacks;
  const bool runs_no_python = dictionary_.PythonPart(node.callstack) == dictionary_.PythonPart(callstacks.own);
  callstacks.forward = runs_no_python ? ids_->NativeUnder(callstacks.own, node.forward_callstack)
                                      : ids_->UnderForward(callstacks.own, node.forward_callstack);
  return callstacks;
}

ForwardOperator Replayer::ForwardOperatorOf(const OpenRange& backward) {
  ThreadReplay* forward = FindTorchThread(backward.forward_thread);
  return forward == nullptr ? ForwardOperator() : forward->forward_operators().Find(backward.sequence);
}

bool Replayer::TakeGradientOf(ThreadReplay& thread, ModuleEvent& event) {
  OpenRange* range = thread.range_at(static_cast<std::int32_t>(thread.stack().size()) - 1);
  if (range == nullptr || range->source != RangeSource::kBackward || !range->name.valid() || range->module.valid() ||
      !RolesOf(range->name).accumulates)
    return false;
  range->module = event.module;
  OpenRange* around = thread.range_at(static_cast<std::int32_t>(range->depth) - 1);
  if (around != nullptr && around->role.backward) around->module = event.module;
  event.phase = Phase::kBackward;
  event.of_gradient = true;
  return true;
}

// Always shown, so that events are counted alike in every view; without ReplayOptions::modules only the module, the
// depth and `again` are known of one.
void Replayer::ShowModule(ThreadReplay& thread, RunCursor& cursor, bool enter) {
  auto event = MakeEvent<ModuleEvent>(process_, thread.id(), cursor.tick);
  event.module = ids_->called_module(cursor.run.module.Next32());
  std::vector<OpenModule>& open = thread.modules();
  if (enter && options_.modules && TakeGradientOf(thread, event)) return visitor_.OnModuleEnter(event);
  if (enter) {
    const bool recompute = thread.innermost() != nullptr && thread.innermost()->innermost_backward >= 0;
    event.phase = recompute ? Phase::kRecompute : Phase::kForward;
    event.depth = static_cast<std::uint32_t>(open.size());
    event.again = !open.empty() && open.back().module == event.module && open.back().depth == thread.stack().size();
    if (open.size() < kMostOpenModules) open.push_back({event.module, thread.stack().size(), recompute});
    return visitor_.OnModuleEnter(event);
  }
  // What stands above it has lost its end. An exit without its enter is of a call from before the recording.
  const auto found =
      std::find_if(open.rbegin(), open.rend(), [&](const OpenModule& m) { return m.module == event.module; });
  if (found == open.rend()) return;
  event.phase = found->recompute ? Phase::kRecompute : Phase::kForward;
  event.depth = static_cast<std::uint32_t>(open.rend() - found - 1);
  open.resize(event.depth);
  visitor_.OnModuleExit(event);
}

}  // namespace memoir
