#include "tracker/writer/pack/holder_packer.h"

#include <algorithm>
#include <string_view>

namespace memoir {

void HolderPacker::AddHolds(ThreadState& /*thread*/, const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<HoldsRecord>();
  const auto holder = static_cast<HolderKind>(record.header.flags);
  if (holder == HolderKind::kModule) {
    Names::Name* const module = shared_.names.FindOperator(static_cast<std::uint32_t>(record.owner));
    run.Put(RunColumn::kModule, shared_.DefineName(module));
  }
  if (holder == HolderKind::kOptimizer) run.Put(RunColumn::kOwner, record.owner);
  const bool may_have_names = holder != HolderKind::kOptimizer && group.kinds == "LLL";
  if (arguments_.AddArguments(group, run) && may_have_names) AddNames(group, run);
}

// Writes a name for each parameter, and then a name for each buffer.
void HolderPacker::AddNames(const EventGroup& group, RunColumns& run) {
  std::string_view names = group.text;
  for (std::uint64_t wanted = std::uint64_t{group.list_lengths[0]} + group.list_lengths[2]; wanted > 0; --wanted) {
    const std::string_view text = names.substr(0, names.find('\0'));
    names.remove_prefix(std::min(text.size() + 1, names.size()));
    run.Put(RunColumn::kHoldsName, shared_.DefineName(text.empty() ? nullptr : shared_.names.FindText(text)));
  }
}

// Returns true if the module or the optimizer still holds the tensor. It no longer holds the tensor if the block at the
// tensor's address was allocated after the record: the block then belongs to another tensor. If no live block at the
// address is known, a gradient counts as freed, because gradients are freed between steps; any other tensor counts as
// held.
bool HolderPacker::IsHeldStill(const CurrentHoldings::Copy& held, std::size_t tensor) {
  const TensorRecord& record = *held.tensors[tensor];
  if (record.storage == 0) return true;
  const LiveBlock* block = shared_.memory.live().Find(shared_.DeviceOf(record), record.storage);
  if (block != nullptr) return block->tick <= held.group.tick;
  const EventGroup& group = held.group;
  const std::size_t first = group.list_count > 1 ? group.list_lengths[0] : held.tensors.size();
  return tensor < first || tensor >= first + group.list_lengths[1];
}

void HolderPacker::LeaveOutFreed(CurrentHoldings::Copy& held) {
  for (std::size_t i = 0; i < held.tensors.size(); ++i) {
    if (IsHeldStill(held, i)) continue;
    held.tensors[i]->impl = held.tensors[i]->storage = held.tensors[i]->storage_bytes = 0;
  }
}

}  // namespace memoir
