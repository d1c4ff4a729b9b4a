#include "tools/analyze/grouping/holdings.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "tools/analyze/grouping/grouping.h"

namespace memoir {
namespace {

constexpr char kFromBefore[] = "(from before)";

void AddTo(Holdings::ByName& holders, std::string name, const Block& block) {
  HoldingRow& holder = holders[name];
  holder.name = std::move(name);
  holder.bytes += block.bytes;
  ++holder.blocks;
}

}  // namespace

std::string OperatorHolding(const Block& block, const Dictionary& dictionary) {
  if (block.origin == BlockOrigin::kFound) return kFromBefore;
  const NameId maker = MakerOf(block);
  return maker.valid() ? std::string(dictionary.text(maker)) : "(no operator)";
}

std::string ModuleHolding(const Block& block, const Dictionary& dictionary) {
  if (block.origin == BlockOrigin::kFound) return kFromBefore;
  if (!block.module.valid()) return "(no module)";
  const Module& module = dictionary.module(block.module);
  return module.display_path();
}

void Holdings::Add(const Block& block, const Dictionary& dictionary) {
  AddTo(by_operator, OperatorHolding(block, dictionary), block);
  AddTo(by_module, ModuleHolding(block, dictionary), block);
  bytes += block.bytes;
}

void Holdings::AddWorkspace(const Block& block) {
  AddTo(by_operator, kWorkspaceLabel, block);
  AddTo(by_module, kWorkspaceLabel, block);
  bytes += block.bytes;
}

Holdings HoldingsOf(const ReplayState& state, DeviceId device, const BlockCategories& categories,
                    std::uint64_t without_call) {
  Holdings holdings;
  const bool has_workspaces = state.memory(device).caching();
  state.ForEachLiveBlock([&](const Block& block) {
    const bool left_out = without_call != 0 && block.operator_call == without_call;
    if (block.device != device || left_out) return;
    if (has_workspaces && IsOfLibrary(categories.RuleOf(block))) return holdings.AddWorkspace(block);
    holdings.Add(block, state.dictionary());
  });
  return holdings;
}

std::vector<HoldingRow> Sorted(const Holdings::ByName& holders) {
  std::vector<HoldingRow> sorted;
  for (const auto& [name, holder] : holders) sorted.push_back(holder);
  std::ranges::stable_sort(sorted, std::ranges::greater(), &HoldingRow::bytes);
  return sorted;
}

std::vector<HoldingRow> HoldingsByCategory(const ReplayState& state, DeviceId device,
                                           const BlockCategories& categories) {
  Holdings::ByName holders;
  state.ForEachLiveBlock([&](const Block& block) {
    if (block.device == device) AddTo(holders, LabelOfCategory(categories.CategoryOf(block)), block);
  });
  return Sorted(holders);
}

}  // namespace memoir
