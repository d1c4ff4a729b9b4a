#include "tools/analyze/torch_profiler/category_profile.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tools/analyze/data_flow/tree_builder.h"
#include "tools/analyze/torch_profiler/torch_rules.h"

namespace memoir {
namespace {

// Sums the rows of each device. When a storage gets a new version, its bytes leave one category in one row and enter
// another in the next row (RowsOf). The bytes between these two rows do not count as a peak.
std::vector<CategoryProfile::Totals> Sum(const std::vector<TimelineRow>& rows) {
  std::vector<CategoryProfile::Totals> all;
  std::vector<bool> half;
  for (const TimelineRow& row : rows) {
    if (all.size() <= row.device.value) {
      all.resize(row.device.value + 1);
      half.resize(all.size());
    }
    CategoryProfile::Totals& totals = all[row.device.value];
    totals.device = row.device;
    const auto category = static_cast<std::size_t>(row.category);
    totals.last[category] += row.bytes;
    if (row.action == TimelineAction::kIncrementVersion && row.bytes <= 0 && !half[row.device.value]) {
      half[row.device.value] = true;
      continue;
    }
    half[row.device.value] = false;
    totals.peaks[category] = std::max(totals.peaks[category], totals.last[category]);
    if (row.action == TimelineAction::kCreate) totals.created[category] += row.bytes;
    if (row.action == TimelineAction::kPreexisting) totals.preexisting[category] += row.bytes;
    const std::int64_t live = std::accumulate(totals.last.begin(), totals.last.end(), std::int64_t{0});
    if (live <= totals.peak) continue;
    totals.peak = live;
    totals.at_peak = totals.last;
  }
  std::erase_if(all, [](const CategoryProfile::Totals& totals) { return !totals.device.valid(); });
  return all;
}

void ListStorages(const CategoryTable& table, const std::vector<bool>& known, CategoryProfile& profile) {
  for (const AllocationId storage : TensorStorages(profile.tree)) {
    profile.storages.push_back({storage, profile.categories.size()});
    for (std::uint32_t version = 0; version <= profile.graph.versions[storage]; ++version) {
      if (known[table.Slot(storage, version)]) profile.categories.push_back(table.Get(storage, version));
    }
    if (profile.storages.back().categories == profile.categories.size()) profile.storages.pop_back();
  }
}

}  // namespace

absl::Span<const Category> CategoryProfile::CategoriesOf(std::size_t storage) const {
  const std::size_t end = storage + 1 < storages.size() ? storages[storage + 1].categories : categories.size();
  return absl::MakeConstSpan(categories).subspan(storages[storage].categories, end - storages[storage].categories);
}

absl::StatusOr<CategoryProfile> ProfileByTorchRules(const Capture& capture, const Selection& selection) {
  absl::StatusOr<EventTree> tree = BuildEventTree(capture, selection);
  if (!tree.ok()) return tree.status();
  CategoryProfile profile;
  profile.tree = *std::move(tree);
  profile.graph = BuildDataFlowGraph(profile.tree);
  const CategoryTable table = CategorizeByTorchRules(profile.tree, profile.graph);
  const std::vector<bool> known = KnownVersions(profile.tree, profile.graph, table);
  profile.rows = RowsOf(BuildTimeline(profile.tree, profile.graph, known, table), table);
  ListStorages(table, known, profile);
  if (selection.device) {
    std::erase_if(profile.rows, [&](const TimelineRow& row) {
      return profile.tree.device_names[row.device.value] != *selection.device;
    });
  }
  profile.totals = Sum(profile.rows);
  return profile;
}

}  // namespace memoir
