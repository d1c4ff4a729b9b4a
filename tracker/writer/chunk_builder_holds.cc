// The part of ChunkBuilder for tensors that modules and optimizers hold.
#include <algorithm>

#include "tracker/writer/chunk_builder.h"

namespace memoir {
namespace {

// Restores a number at the end of the scope, even if memory runs out.
class RestoredNumber {
 public:
  explicit RestoredNumber(std::uint64_t* number) : number_(*number), value_(*number) {}
  ~RestoredNumber() { number_ = value_; }
  RestoredNumber(const RestoredNumber&) = delete;
  RestoredNumber& operator=(const RestoredNumber&) = delete;

 private:
  std::uint64_t& number_;
  const std::uint64_t value_;
};

}  // namespace

void ChunkBuilder::AddHolds(const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<HoldsRecord>();
  const auto holder = static_cast<HolderKind>(record.header.flags);
  if (holder == HolderKind::kModule) {
    Names::Name* name = names_.FindOperator(static_cast<std::uint32_t>(record.owner));
    if (name != nullptr) names_.Define(name, part_, &definitions_);
    run.Put(RunColumn::kModule, name == nullptr ? 0 : name->id);
  }
  if (holder == HolderKind::kOptimizer) run.Put(RunColumn::kOwner, record.owner);
  const bool may_have_names = holder != HolderKind::kOptimizer && group.kinds == "LLL";
  if (AddArguments(group, run) && may_have_names) AddHoldsNames(group, run);
}

// Writes a name for each parameter, and then a name for each buffer.
void ChunkBuilder::AddHoldsNames(const EventGroup& group, RunColumns& run) {
  std::string_view names = group.text;
  for (std::uint64_t wanted = std::uint64_t{group.list_lengths[0]} + group.list_lengths[2]; wanted > 0; --wanted) {
    const std::string_view text = names.substr(0, names.find('\0'));
    names.remove_prefix(std::min(text.size() + 1, names.size()));
    Names::Name* name = text.empty() ? nullptr : names_.FindText(text);
    if (name != nullptr) names_.Define(name, part_, &definitions_);
    run.Put(RunColumn::kHoldsName, name == nullptr ? 0 : name->id);
  }
}

// Returns true if the module or the optimizer still holds the tensor. It does not if the block at the tensor's address
// was allocated after the record, because the block then belongs to another tensor. If no allocation at the address was
// recorded, the tensor counts as held. Gradients are the exception, because they are freed between steps.
bool ChunkBuilder::IsHeldStill(const CurrentHoldings::Copy& held, std::size_t tensor) {
  const TensorRecord& record = *held.tensors[tensor];
  if (record.storage == 0) return true;
  const std::uint32_t device = devices_.Find(record.device_type, record.device_index, part_, &definitions_);
  const LiveBlock* block = memory_.live().Find(device, record.storage);
  if (block != nullptr) return block->tick <= held.group.tick;
  const EventGroup& group = held.group;
  const std::size_t first = group.list_count > 1 ? group.list_lengths[0] : held.tensors.size();
  return tensor < first || tensor >= first + group.list_lengths[1];
}

void ChunkBuilder::AddCurrentHoldings(std::uint64_t tick) {
  if (threads_.states().empty()) return;
  ThreadState& thread = threads_.State(threads_.states().begin()->first);
  const RestoredNumber next_record(&thread.next_record), repeated(&thread.repeated), all_events(&all_events_);
  held_.ForEach([&](CurrentHoldings::Copy& held) {
    for (std::size_t i = 0; i < held.tensors.size(); ++i) {
      if (IsHeldStill(held, i)) continue;
      held.tensors[i]->impl = held.tensors[i]->storage = held.tensors[i]->storage_bytes = 0;
    }
    held.header->depth = static_cast<std::uint16_t>(thread.ranges.depth());
    held.group.tick = tick;
    held.group.first_record = thread.next_record;
    Pack(thread, held.group);
  });
}

}  // namespace memoir
