// What modules and optimizers hold.
#include <algorithm>

#include "tracker/writer/chunk_builder.h"

namespace memoir {

void ChunkBuilder::AddHolds(const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<HoldsRecord>();
  const auto holder = static_cast<HolderKind>(record.header.flags);
  if (holder == HolderKind::kModule) {
    Names::Name* name = names_.Operator(static_cast<std::uint32_t>(record.owner));
    if (name != nullptr) names_.Define(name, part_, &definitions_);
    run.Put(RunColumn::kModule, name == nullptr ? 0 : name->id);
  }
  if (holder == HolderKind::kOptimizer) run.Put(RunColumn::kOwner, record.owner);
  const bool may_have_names = holder != HolderKind::kOptimizer && group.kinds == "LLL";
  if (AddArguments(group, run) && may_have_names) AddHoldsNames(group, run);
}

// One for each parameter, then one for each buffer.
void ChunkBuilder::AddHoldsNames(const EventGroup& group, RunColumns& run) {
  std::string_view names = group.text;
  for (std::uint64_t wanted = std::uint64_t{group.list_lengths[0]} + group.list_lengths[2]; wanted > 0; --wanted) {
    const std::string_view text = names.substr(0, names.find('\0'));
    names.remove_prefix(std::min(text.size() + 1, names.size()));
    Names::Name* name = text.empty() ? nullptr : names_.Text(text);
    if (name != nullptr) names_.Define(name, part_, &definitions_);
    run.Put(RunColumn::kHoldsName, name == nullptr ? 0 : name->id);
  }
}

}  // namespace memoir
