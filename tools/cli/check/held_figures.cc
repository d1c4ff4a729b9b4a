#include "tools/cli/check/held_figures.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "tools/analyze/categories/category.h"
#include "tools/cli/terminal/nearest.h"

namespace memoir {
namespace {

// Of GPUs, where there are any.
std::vector<std::size_t> DevicesThatCount(const Summary& summary) {
  const bool any = std::ranges::any_of(summary.devices, &DeviceRow::caching);
  std::vector<std::size_t> counted;
  for (std::size_t i = 0; i < summary.devices.size(); ++i) {
    if (!any || summary.devices[i].caching) counted.push_back(i);
  }
  return counted;
}

std::optional<Category> CategoryCalled(std::string_view name) {
  for (std::size_t i = 0; i < kCategories; ++i) {
    if (ToString(static_cast<Category>(i)) == name) return static_cast<Category>(i);
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<std::uint64_t> MostOfModules(const Capture& capture, SummaryOptions options,
                                            const std::string& pattern) {
  options.by = GroupBy::kModule;
  options.module = pattern;
  const absl::StatusOr<Summary> summary = AnalyzeSummary(capture, options);
  if (!summary.ok()) return summary.status();
  std::uint64_t most = 0;
  for (const std::size_t i : DevicesThatCount(*summary))
    most = std::max(most, summary->devices[i].peak_allocated_bytes);
  return most;
}

absl::StatusOr<std::uint64_t> CategoryAtPeak(const Capture& capture, SummaryOptions options, const std::string& name) {
  options.by = GroupBy::kCategory;
  options.checkpointing = false;
  const absl::StatusOr<Summary> summary = AnalyzeSummary(capture, options);
  if (!summary.ok()) return summary.status();
  const std::optional<Category> category = CategoryCalled(name);
  std::set<std::string> names;
  std::uint64_t most = 0;
  bool known = false;
  for (const std::size_t i : DevicesThatCount(*summary)) {
    std::uint64_t bytes = 0;
    for (const Row& row : summary->rows) {
      names.insert(row.name);
      if (category ? row.category != NameOf(*category) : row.name != name) continue;
      known = true;
      if (i < row.by_device.size()) bytes += row.by_device[i].bytes_at_peak;
    }
    most = std::max(most, bytes);
  }
  // Nothing of a category that there is, is 0; of a word that is none, nobody knows.
  if (known || category) return most;
  const std::vector<std::string> there(names.begin(), names.end());
  return absl::NotFoundError(
      fmt::format("no category '{}'; there are: {}{}", name, fmt::join(there, ", "), DidYouMean(name, there)));
}

}  // namespace memoir
