#include "tools/analyze/summary/pass/block_counts.h"

namespace memoir {
namespace {

// Returns the cell of a new block. A block of the keyframe before the first remaining event belongs to the row of its
// operator, unless a window is selected.
CellNumber CellOfBlock(const SharedSummaryState& shared, const AllocateEvent& event) {
  const bool found = event.block->origin == BlockOrigin::kFound;
  const bool kept = !shared.selects_window() && event.before;
  // Rows by category also count blocks that were allocated before the window. Rows by operator, for example, count only
  // blocks that were allocated in the window; other blocks have separate rows.
  const bool grouped = NeedsCategories(shared.grouping.by()) || (!found && (shared.in_window() || kept));
  const Group group = shared.grouping.GroupOf(*event.block, event.process, shared.dictionary(), !grouped);
  return CellOf(group, !grouped);
}

}  // namespace

void BlockCounts::AddBlock(const AllocateEvent& event) {
  const Block& block = *event.block;
  const bool in_window = shared_.in_window();
  if (!in_window && shared_.window.selection().forget_before) return;
  const CellNumber cell = CellOfBlock(shared_, event);
  const bool counts = in_window && !event.before;
  if (counts) {
    steps_.NoteMemoryUse();
    caching_.CountCompiled(block);
    if (!block.operator_name.valid() && !block.unseen) sums_.unattributed[block.device] += block.bytes;
  }
  shared_.table.Add(block, event.process, cell, counts, in_window, event.tick);
  if (counts && shared_.grouping.IsWorkspace(GroupOf(cell)))
    sums_.workspaces[{event.process, MakerOf(block)}] += {0, 0, 1, block.bytes, 0};
  segments_.AssignToBlock(block, event.process, cell);
  peaks_.NoteAllocation(event);
  caching_.NoteMemory(event, block.device);
}

void BlockCounts::RemoveBlock(const DeallocateEvent& event) {
  const Block& block = *event.block;
  const bool in_window = shared_.in_window();
  peaks_.NoteDeallocation(block);
  if (in_window && shared_.grouping.IsSeparate(block))
    sums_.workspaces[{event.process, MakerOf(block)}] += {0, 0, 0, 0, block.bytes};
  shared_.table.Remove(block, in_window, event.temporary, event.cause != DeallocateCause::kUnknown, event.tick);
}

void BlockCounts::CountFirstSeen(const FirstSeenEvent& event) {
  if (!shared_.in_window()) return;
  DeviceTable& device = shared_.table.device(event.tensor->device, event.process);
  device.first_seen += 1;
  device.first_seen_bytes += event.tensor->storage_bytes;
}

EvictedSums BlockCounts::WorkspaceSums(ProcessId process, NameId name) const {
  const auto found = sums_.workspaces.find({process, name});
  return found == sums_.workspaces.end() ? EvictedSums() : found->second;
}

}  // namespace memoir
