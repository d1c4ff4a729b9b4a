#include "tools/model/replay/state/module_contexts.h"

namespace memoir {
namespace {

// Returns the context of a thread from its own ranges and module calls. Ignores the Python stack, and the thread for
// which the thread works.
ModuleContext OwnContextOf(const ThreadReplay& thread) {
  const OpenRange* innermost = thread.innermost();
  if (innermost != nullptr && innermost->role.compiling) return {ModuleId(), Phase::kCompile};
  const std::int32_t backward = innermost == nullptr ? -1 : innermost->innermost_backward;
  const std::int32_t optimizer = innermost == nullptr ? -1 : innermost->innermost_optimizer;
  const OpenModule* module = thread.modules().empty() ? nullptr : &thread.modules().back();
  // Ranges from this depth on are inside the module call.
  const std::int32_t inside = module == nullptr ? 0 : static_cast<std::int32_t>(module->depth);
  if (optimizer > backward && optimizer >= inside) return {ModuleId(), Phase::kOptimizer};
  if (module != nullptr && inside > backward)
    return {module->module, module->recompute ? Phase::kRecompute : Phase::kForward};
  if (backward >= 0) return {thread.stack()[static_cast<std::size_t>(backward)].module, Phase::kBackward};
  return {};
}

}  // namespace

ModuleContext ModuleContexts::Of(const ThreadReplay& thread) const {
  const ModuleContext own = OwnContextOf(thread);
  const ThreadReplay& working = threads_.Working(thread);
  ModuleContext context = own.phase != Phase::kOther || &working == &thread ? own : OwnContextOf(working);
  if (context.phase == Phase::kCompile) return context;
  DictionaryIds& ids = context_.ids();
  context.module = ids.ModuleAt(ids.WorkingStack(thread.callstack, working.callstack), context.module);
  return context;
}

// If an autograd node runs Python code, the stack has more Python frames than at the node's begin. If these frames are
// generated code, they belong to the node's forward operator. Only Python frames are compared, because native frames
// change inside of every node.
Callstacks ModuleContexts::CallstacksOf(const ThreadReplay& thread) const {
  const ThreadReplay& working = threads_.Working(thread);
  DictionaryIds& ids = context_.ids();
  Callstacks callstacks{ids.WorkingStack(thread.callstack, working.callstack), StackId()};
  const OpenRange* innermost = working.innermost();
  if (innermost == nullptr || innermost->innermost_backward < 0) return callstacks;
  const OpenRange& node = working.stack()[static_cast<std::size_t>(innermost->innermost_backward)];
  if (!node.forward_callstack.valid()) return callstacks;
  const Dictionary& dictionary = context_.dictionary();
  const bool runs_no_python = dictionary.PythonPart(node.callstack) == dictionary.PythonPart(callstacks.own);
  callstacks.forward = runs_no_python ? ids.NativeFramesUnder(callstacks.own, node.forward_callstack)
                                      : ids.StackUnderForward(callstacks.own, node.forward_callstack);
  return callstacks;
}

ForwardOperator ModuleContexts::ForwardOperatorOf(const OpenRange& backward) {
  ThreadReplay* forward = threads_.FindTorchThread(backward.forward_thread);
  return forward == nullptr ? ForwardOperator() : forward->forward_operators().Find(backward.sequence);
}

void ModuleContexts::SetModuleOfNode(ThreadReplay& thread, OpenRange& node) {
  const ForwardOperator forward = ForwardOperatorOf(node);
  node.module = forward.module;
  node.forward_callstack = forward.callstack;
  node.region = forward.region;
  node.phase = Phase::kBackward;
  // Copies the module, stack and region of the forward operator to the engine's range around the node.
  OpenRange* around = thread.range_at(static_cast<std::int32_t>(node.depth) - 1);
  if (around == nullptr || !around->role.backward || around->source == RangeSource::kBackward) return;
  around->module = node.module;
  around->forward_callstack = node.forward_callstack;
  around->region = node.region;
}

void ModuleContexts::SetModule(ThreadReplay& thread) {
  OpenRange& range = *thread.range_at(static_cast<std::int32_t>(thread.stack().size()) - 1);
  if (range.source == RangeSource::kBackward) return SetModuleOfNode(thread, range);
  const ModuleContext context = range.role.backward ? ModuleContext{ModuleId(), Phase::kBackward} : Of(thread);
  range.module = context.module;
  range.phase = context.phase;
  const bool forward = range.source == RangeSource::kFunction || range.source == RangeSource::kDispatch;
  if (!forward || range.role.backward || range.sequence < 0) return;
  const Callstacks callstacks = CallstacksOf(thread);
  const StackId callstack = callstacks.forward.valid() ? callstacks.forward : callstacks.own;
  thread.forward_operators().Note(range.sequence, {range.module, callstack, range.region});
}

}  // namespace memoir
