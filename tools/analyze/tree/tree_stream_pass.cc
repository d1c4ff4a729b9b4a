#include "tools/analyze/tree/tree_stream_pass.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace memoir {

std::uint32_t TreeStreamPass::Emit(StreamedNode node) {
  if (next_ >= TreeStreamOptions::kMostNodes) is_full_ = true;
  if (is_full_) return kNoTreeNode;
  node.number = next_++;
  if (finds()) {
    outcomes_.push_back({kNoEnd, 0, 0, node.parent, {}});
    return node.number;
  }
  const NodeOutcome& outcome = outcomes_[node.number];
  if (outcome.end != kNoEnd) node.end = outcome.end;
  if (outcome.gradient_of.valid()) node.module = outcome.gradient_of;
  node.allocated = outcome.allocated;
  node.freed = outcome.freed;
  (*see_)(node, state());
  return node.number;
}

StreamedNode TreeStreamPass::RangeNode(ThreadId thread, const OpenRange& range) const {
  StreamedNode node;
  node.thread = thread;
  node.process = state().dictionary().thread(thread).process;
  node.begin = range.begin;
  node.module = range.module;
  node.phase = range.phase;
  node.name = range.name;
  node.source = range.source;
  node.forward = links_.Find(range);
  node.sequence = range.sequence;
  return node;
}

StreamedNode TreeStreamPass::ModuleNode(ThreadId thread, const OpenNode& call, Phase phase) const {
  StreamedNode node;
  node.kind = StreamedNode::Kind::kModule;
  node.thread = thread;
  node.process = state().dictionary().thread(thread).process;
  node.begin = call.begin;
  node.module = call.module;
  node.phase = phase;
  return node;
}

StreamedNode TreeStreamPass::CallNode(ThreadId thread, const OpenNode& call) const {
  StreamedNode node = ModuleNode(thread, call, Phase::kOther);
  node.kind = StreamedNode::Kind::kCall;
  node.code = call.code;
  return node;
}

// Shows the ranges and calls that began before the window and are still open, outermost first, because they are the
// parents of nodes in the window. Nodes that an earlier window has shown are not shown again.
void TreeStreamPass::SeeWindowOpen(const Event& event) {
  ThreadId last;
  std::uint32_t around = kNoTreeNode;
  open_.Change([&](ThreadId thread, OpenNode& open) {
    if (thread != last) around = kNoTreeNode;
    last = thread;
    const RangeStack& stack = state().stack(thread);
    const bool known = open.kind != OpenNode::Kind::kRange || open.level < stack.size();
    if (open.node == kNoTreeNode && known && open.begin <= event.tick) {
      StreamedNode node = open.kind == OpenNode::Kind::kModule ? ModuleNode(thread, open, Phase::kForward)
                          : open.kind == OpenNode::Kind::kCall ? CallNode(thread, open)
                                                               : RangeNode(thread, stack[open.level]);
      node.parent = around;
      open.node = Emit(node);
    }
    around = open.node;
  });
}

void TreeStreamPass::SeeRangeBegin(const RangeBeginEvent& event) {
  if (!Follows(event.thread)) return;
  const OpenRange& range = *event.range;
  open_.EndRange(event.thread, range.depth, [](const OpenNode&) {});
  // RangeRole::note: the range describes work of torch.compile. Only compilations are useful to users, so other such
  // ranges are not nodes.
  if (range.role.note && state().dictionary().compilation(range.name) == nullptr) return;
  OpenNode open{kNoTreeNode, range.depth, OpenNode::Kind::kRange, ModuleId(), range.begin};
  if (in_window()) {
    StreamedNode node = RangeNode(event.thread, range);
    node.parent = open_.AroundRange(event.thread, range);
    open.node = Emit(node);
  }
  links_.Note(event, state().dictionary(), open.node);
  open_.Begin(event.thread, open);
}

void TreeStreamPass::SeeRangeEnd(const RangeEndEvent& event) {
  open_.EndRange(event.thread, event.range->depth, [&](const OpenNode& open) {
    if (!event.implicit) End(open, event.tick);
  });
}

void TreeStreamPass::End(const OpenNode& open, Tick end) {
  if (finds() && open.node != kNoTreeNode && open.begin != kForeverOpen) outcomes_[open.node].end = end;
}

void TreeStreamPass::SeeModuleEnter(const ModuleEvent& event) {
  if (!Follows(event.thread)) return;
  if (event.of_gradient) {
    const OpenNode* innermost = open_.Innermost(event.thread);
    if (finds() && innermost != nullptr && innermost->kind == OpenNode::Kind::kRange && innermost->node != kNoTreeNode)
      outcomes_[innermost->node].gradient_of = event.module;
    return;
  }
  OpenNode open{kNoTreeNode, event.depth, OpenNode::Kind::kModule, event.module, event.tick};
  const std::uint32_t around = open_.Around(event.thread, {});
  if (event.again) {
    open.node = around;  // torch.compile's wrapper and the model inside are one node
    open.begin = kForeverOpen;
  } else if (in_window()) {
    StreamedNode node = ModuleNode(event.thread, open, event.phase);
    node.parent = around;
    open.node = Emit(node);
  }
  open_.Begin(event.thread, open);
}

void TreeStreamPass::SeeModuleExit(const ModuleEvent& event) {
  open_.EndModule(event.thread, event.depth, [&](const OpenNode& open) { End(open, event.tick); });
}

void TreeStreamPass::SeeCallBegin(const CallEvent& event) {
  if (!Follows(event.thread)) return;
  open_.EndCall(event.thread, event.around, [](const OpenNode&) {});
  const CalledCode& code = codes_.FactsOf(event.code, state().dictionary());
  OpenNode open{kNoTreeNode, event.around, OpenNode::Kind::kCall, ModuleId(), event.tick, event.code};
  open.enters = code.enters;
  const std::uint32_t around = open_.Around(event.thread, {});
  if (code.of_memoir) {
    open.node = around;
    open.begin = kForeverOpen;
  } else if (in_window()) {
    StreamedNode node = CallNode(event.thread, open);
    node.parent = around;
    open.node = Emit(node);
  }
  open_.Begin(event.thread, open);
}

void TreeStreamPass::SeeCallEnd(const CallEvent& event) {
  open_.EndCall(event.thread, event.around, [&](const OpenNode& open) { End(open, event.tick); });
}

StreamedNode TreeStreamPass::MemoryNode(const Event& event, MemoryAction action, const Block& block) {
  StreamedNode node;
  node.kind = StreamedNode::Kind::kMemory;
  node.process = event.process;
  node.thread = event.thread;
  node.begin = event.tick;
  node.action = action;
  node.device = block.device;
  node.address = block.address;
  node.bytes = block.bytes;
  node.serial = block.serial;
  node.stream = block.stream;
  return node;
}

// Shows the event in the innermost node of its thread. If the thread has no open node, shows it in the node of the
// thread for which it works. In the first replay, adds the bytes of an allocation or a free to all nodes around it
// instead.
void TreeStreamPass::ShowMemory(StreamedNode node, const RangeBase& base) {
  if (!in_window() || !Follows(node.thread)) return;
  if (node.thread.valid()) {
    node.parent = open_.Around(node.thread, base);
    if (node.parent == kNoTreeNode) node.parent = open_.Around(state().working_thread(node.thread), {});
  }
  if (node.kind == StreamedNode::Kind::kDeviceCall) {
    if (!finds()) (*see_)(node, state());
  } else if (finds()) {
    const bool allocates = node.action == MemoryAction::kAllocate;
    if (!allocates && node.action != MemoryAction::kFree) return;
    for (std::uint32_t at = node.parent; at != kNoTreeNode; at = outcomes_[at].parent)
      (allocates ? outcomes_[at].allocated : outcomes_[at].freed) += node.bytes;
  } else if (options_.memory) {
    (*see_)(node, state());
  }
}

void TreeStreamPass::SeeAllocate(const AllocateEvent& event) {
  LiveBytes& live = LiveOn(event.block->device);
  live.all += event.block->bytes;
  live.chosen += event.block->bytes;
  ShowChange(event, event.block->device);
  if (event.before || event.block->origin != BlockOrigin::kRecorded) return;
  StreamedNode node = MemoryNode(event, MemoryAction::kAllocate, *event.block);
  node.module = event.block->module;
  node.phase = event.block->phase;
  ShowMemory(node, event.base);
}

void TreeStreamPass::SeeDeallocate(const DeallocateEvent& event) {
  LiveBytes& live = LiveOn(event.block->device);
  live.all -= event.block->bytes;
  live.chosen -= event.block->bytes;
  ShowChange(event, event.block->device);
  if (event.cause == DeallocateCause::kRecorded || event.cause == DeallocateCause::kReplaced)
    ShowMemory(MemoryNode(event, MemoryAction::kFree, *event.block), {});
}

void TreeStreamPass::SeeDeviceCall(const DeviceCallEvent& event) {
  StreamedNode node;
  node.kind = StreamedNode::Kind::kDeviceCall;
  node.process = event.process;
  node.thread = event.thread;
  node.begin = event.tick - std::min(event.tick, event.ticks);
  node.module = event.module;
  node.phase = event.phase;
  node.device_call = &event;
  ShowMemory(node, {});
}

void TreeStreamPass::SeeSegment(const SegmentEvent& event) {
  ShowChange(event, event.segment->device);
  if (event.action != SegmentAction::kFound) ShowMemory(MemoryNode(event, ActionOf(event.action), *event.segment), {});
}

void TreeStreamPass::SeeOutOfMemory(const OutOfMemoryEvent& event) {
  ShowMemory(MemoryNode(event, MemoryAction::kOutOfMemory, *event.asked), {});
}

void TreeStreamPass::SeeDriver(const Event& event, MemoryAction action, const DriverBlock& block) {
  StreamedNode node = MemoryNode(event, action, Block());
  node.device = block.device;
  node.address = block.address;
  node.bytes = block.bytes;
  node.serial = block.serial;
  node.call = block.call;
  node.library = block.library;
  ShowMemory(node, {});
}

void TreeStreamPass::SeeDriverFree(const DriverFreeEvent& event) {
  DriverBlock block;
  if (event.block != nullptr) block = *event.block;
  block.device = event.device;
  block.address = event.address;
  block.serial = event.serial;
  SeeDriver(event, MemoryAction::kDriverFree, block);
}

}  // namespace memoir
