#include "tools/analyze/tree/merged_tree_pass.h"

#include <algorithm>
#include <utility>

namespace memoir {

// Returns the innermost open node of the thread, as OpenNodes::Around does. Returns the root if no node is open.
std::uint32_t MergedTreePass::Around(ThreadId thread, const RangeBase& base) const {
  const std::uint32_t node = open_.Around(thread, base);
  return node == kNoTreeNode ? kTreeRoot : node;
}

void MergedTreePass::AddTime(const OpenNode& node, Tick end) {
  const Tick begin = std::max(node.begin, opened_);
  if (in_window() && node.node != kTreeRoot && end > begin) tree_.nodes()[node.node].ticks += end - begin;
}

void MergedTreePass::SeeWindowOpen(const Event& event) {
  opened_ = event.tick;
  for (const DeviceId device : devices_) tree_.NoteHeight(device);
}

void MergedTreePass::SeeWindowClose(const Event& event) {
  tree_.NoteEnd();
  open_.ForEach([&](const OpenNode& node) {
    const Tick begin = std::max(node.begin, opened_);
    if (node.node != kTreeRoot && event.tick > begin) tree_.nodes()[node.node].ticks += event.tick - begin;
  });
}

void MergedTreePass::SeeRangeBegin(const RangeBeginEvent& event) {
  if (!Follows(event.thread)) return;
  const OpenRange& range = *event.range;
  open_.EndRange(event.thread, range.depth, [](const OpenNode&) {});
  // RangeRole::note: the range describes work of torch.compile. Only compilations are useful to users, so other such
  // ranges are not nodes.
  if (range.role.note && state().dictionary().compilation(range.name) == nullptr) return;
  NodePlace place;
  const std::uint32_t around = open_.AroundRange(event.thread, range);
  place.parent = around == kNoTreeNode ? kTreeRoot : around;
  place.source = range.source;
  place.name = range.name;
  place.forward = links_.Find(range);
  if (range.source == RangeSource::kBackward) place.module = range.module;
  const std::uint32_t node = tree_.Child(place);
  links_.Note(event, state().dictionary(), node);
  // A call that is counted in its parent adds no time to the parent.
  const bool own = node != place.parent;
  if (in_window() && own && !event.before) ++tree_.nodes()[node].calls;
  open_.Begin(event.thread, {node, range.depth, OpenNode::Kind::kRange, ModuleId(), own ? range.begin : kForeverOpen});
}

void MergedTreePass::SeeRangeEnd(const RangeEndEvent& event) {
  open_.EndRange(event.thread, event.range->depth, [&](const OpenNode& node) {
    AddTime(node, event.tick);
    const bool counted = in_window() && event.implicit && node.begin != kForeverOpen;
    if (counted && tree_.nodes()[node.node].calls > 0) ++tree_.nodes()[node.node].unfinished;
  });
}

void MergedTreePass::SeeModuleEnter(const ModuleEvent& event) {
  if (!Follows(event.thread)) return;
  if (event.of_gradient) {
    // The current range accumulates the gradient of a parameter, so its module is known now.
    OpenNode* innermost = open_.Innermost(event.thread);
    if (innermost == nullptr || innermost->kind != OpenNode::Kind::kRange || innermost->node == kTreeRoot) return;
    NodePlace place = tree_.nodes()[innermost->node].place;
    if (place.source != RangeSource::kBackward || place.module.valid()) return;
    place.module = event.module;
    const std::uint32_t node = tree_.Child(place);
    if (node == place.parent || !in_window()) return;
    if (tree_.nodes()[innermost->node].calls > 0) --tree_.nodes()[innermost->node].calls;
    ++tree_.nodes()[node].calls;
    innermost->node = node;
    return;
  }
  NodePlace place;
  place.parent = Around(event.thread, {});
  place.is_module = true;
  place.module = event.module;
  // torch.compile's wrapper and the model inside are one node.
  const std::uint32_t node = event.again ? place.parent : tree_.Child(place);
  const bool own = node != place.parent;
  if (in_window() && own) ++tree_.nodes()[node].calls;
  open_.Begin(event.thread,
              {node, event.depth, OpenNode::Kind::kModule, event.module, own ? event.tick : kForeverOpen});
}

void MergedTreePass::SeeModuleExit(const ModuleEvent& event) {
  open_.EndModule(event.thread, event.depth, [&](const OpenNode& node) { AddTime(node, event.tick); });
}

bool MergedTreePass::IsShown(const CallEvent& event) {
  const CalledCode& code = codes_.FactsOf(event.code, state().dictionary());
  if (code.of_memoir || !event.code.valid()) return false;
  if (calls_ == TreeCalls::kAll) return true;
  if (code.is_builtin || code.of_library) return false;
  const std::uint32_t around = Around(event.thread, {});
  return !code.is_forward || !tree_.nodes()[around].place.is_module;
}

// A call that is not shown is also opened, because its end is recorded, and ranges that it begins may outlive it.
void MergedTreePass::SeeCallBegin(const CallEvent& event) {
  if (calls_ == TreeCalls::kNone || !Follows(event.thread)) return;
  open_.EndCall(event.thread, event.around, [](const OpenNode&) {});
  NodePlace place;
  place.parent = Around(event.thread, {});
  place.code = event.code;
  const std::uint32_t node = IsShown(event) ? tree_.Child(place) : place.parent;
  const bool own = node != place.parent;
  if (in_window() && own) ++tree_.nodes()[node].calls;
  OpenNode open{node, event.around, OpenNode::Kind::kCall, ModuleId(), own ? event.tick : kForeverOpen, event.code};
  open.enters = codes_.FactsOf(event.code, state().dictionary()).enters;
  open_.Begin(event.thread, open);
}

void MergedTreePass::SeeCallEnd(const CallEvent& event) {
  open_.EndCall(event.thread, event.around, [&](const OpenNode& node) { AddTime(node, event.tick); });
}

std::uint32_t& MergedTreePass::LeafOf(const Block& block) {
  if (block.slot == Block::kNoSlot) return leaf_of_late_block_;
  if (block.slot >= leaf_of_slot_.size()) leaf_of_slot_.resize(block.slot + 1, kNotFollowed);
  return leaf_of_slot_[block.slot];
}

std::uint32_t MergedTreePass::LeafFor(const AllocateEvent& event) {
  LeafPlace place;
  place.device = event.block->device;
  if (!in_window() || event.before) {
    place.action = MemoryAction::kBefore;
  } else if (!Follows(event.thread)) {
    place.action = MemoryAction::kElsewhere;
  } else {
    place.node = event.stack == nullptr ? kTreeRoot : Around(event.thread, event.base);
    place.stream = event.block->stream;
  }
  return tree_.Leaf(place);
}

void MergedTreePass::SeeAllocate(const AllocateEvent& event) {
  const std::uint32_t leaf = LeafFor(event);
  LeafOf(*event.block) = leaf;
  devices_.insert(event.block->device);
  ++tree_.leaves()[leaf].count;
  tree_.leaves()[leaf].bytes += event.block->bytes;
  tree_.Add(leaf, event.block->bytes);
  if (in_window()) tree_.NoteHeight(event.block->device);
}

void MergedTreePass::SeeDeallocate(const DeallocateEvent& event) {
  const std::uint32_t leaf = std::exchange(LeafOf(*event.block), kNotFollowed);
  if (leaf == kNotFollowed) return;
  tree_.Remove(leaf, event.block->bytes);
  if (event.cause != DeallocateCause::kRecorded && event.cause != DeallocateCause::kReplaced) return;
  LeafPlace place;
  place.action = MemoryAction::kFree;
  place.device = event.block->device;
  place.stream = event.block->stream;
  Count(event, place, event.block->bytes);
}

// Adds the event to the thread's innermost node, or to the innermost node of the thread for which it works.
void MergedTreePass::Count(const Event& event, LeafPlace place, std::uint64_t bytes, std::uint64_t ticks) {
  if (!in_window() || !Follows(event.thread)) return;
  const std::uint32_t own = open_.Around(event.thread, {});
  const bool idle = own == kNoTreeNode && event.thread.valid();
  place.node = idle ? Around(state().working_thread(event.thread), {}) : Around(event.thread, {});
  MergedLeaf& leaf = tree_.leaves()[tree_.Leaf(place)];
  ++leaf.count;
  leaf.bytes += bytes;
  leaf.ticks += ticks;
}

void MergedTreePass::SeeDeviceCall(const DeviceCallEvent& event) {
  LeafPlace place;
  place.action = event.is_launch ? MemoryAction::kLaunch : MemoryAction::kDeviceCall;
  place.device = event.device;
  place.stream = event.stream;
  place.library = event.kernel;
  place.device_call = event.call;
  place.copy_kind = event.copy_kind;
  Count(event, place, event.bytes, event.ticks);
}

void MergedTreePass::SeeSegment(const SegmentEvent& event) {
  if (event.action == SegmentAction::kFound) return;
  LeafPlace place;
  place.action = ActionOf(event.action);
  place.device = event.segment->device;
  place.stream = event.segment->stream;
  Count(event, place, event.segment->bytes);
}

void MergedTreePass::SeeOutOfMemory(const OutOfMemoryEvent& event) {
  LeafPlace place;
  place.action = MemoryAction::kOutOfMemory;
  place.device = event.asked->device;
  place.stream = event.asked->stream;
  Count(event, place, event.asked->bytes);
}

void MergedTreePass::SeeDriver(const Event& event, const DriverBlock& block) {
  if (block.origin != BlockOrigin::kRecorded) return;
  LeafPlace place;
  place.action = MemoryAction::kDriverAllocate;
  place.device = block.device;
  place.call = block.call;
  place.library = block.library;
  Count(event, place, block.bytes);
}

void MergedTreePass::SeeDriverFree(const DriverFreeEvent& event) {
  LeafPlace place;
  place.action = MemoryAction::kDriverFree;
  place.device = event.device;
  if (event.block != nullptr) {
    place.call = event.block->call;
    place.library = event.block->library;
  }
  Count(event, place, event.block == nullptr ? 0 : event.block->bytes);
}

void MergedTreePass::SeeDriverRefused(const DriverRefusedEvent& event) {
  LeafPlace place;
  place.action = MemoryAction::kDriverRefused;
  place.device = event.asked->device;
  place.call = event.asked->call;
  place.library = event.asked->library;
  Count(event, place, event.asked->bytes);
}

void MergedTreePass::SeeProcessEnd(const ProcessEvent& event) {
  // The replay has reported unfinished ranges. A module call that is still open has no end either.
  open_.ForEach([&](const OpenNode& node) {
    const bool counted =
        node.kind == OpenNode::Kind::kModule && node.begin != kForeverOpen && tree_.nodes()[node.node].calls > 0;
    if (counted) ++tree_.nodes()[node.node].unfinished;
  });
  open_.Clear();
  links_.Clear();
  leaf_of_slot_.clear();
  devices_.clear();
  const ProcessSummary& process = capture().processes()[event.process.value];
  if (process.last_tick <= process.first_tick) return tree_.ConvertTicks(0);
  const std::uint64_t begin = state().Nanoseconds(event.process, process.first_tick);
  const std::uint64_t end = state().Nanoseconds(event.process, process.last_tick);
  tree_.ConvertTicks(static_cast<double>(end - begin) / static_cast<double>(process.last_tick - process.first_tick));
}

}  // namespace memoir
