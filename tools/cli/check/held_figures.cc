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
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

// Returns the indices of the GPUs, or of the selected device.
absl::StatusOr<std::vector<std::size_t>> DevicesThatCount(const Summary& summary, const SummaryOptions& options) {
  std::vector<std::size_t> counted;
  for (std::size_t i = 0; i < summary.devices.size(); ++i) {
    if (!options.device && !summary.devices[i].caching) continue;
    if (summary.devices[i].peak_is_evicted) {
      return absl::FailedPreconditionError("the peak of " + Escaped(summary.devices[i].name) +
                                           " was in parts that --max-size evicted; record with a larger --max-size");
    }
    counted.push_back(i);
  }
  if (counted.empty())
    return absl::FailedPreconditionError("no GPU memory is recorded; of the host's memory: --device cpu");
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
  options.errors = false;
  options.module = pattern;
  const absl::StatusOr<Summary> summary = AnalyzeSummary(capture, options);
  if (!summary.ok()) return summary.status();
  const absl::StatusOr<std::vector<std::size_t>> devices = DevicesThatCount(*summary, options);
  if (!devices.ok()) return devices.status();
  std::uint64_t most = 0;
  for (const std::size_t i : *devices) most = std::max(most, summary->devices[i].peak_allocated_bytes);
  return most;
}

absl::StatusOr<std::uint64_t> CategoryAtPeak(const Capture& capture, SummaryOptions options, const std::string& name) {
  options.by = GroupBy::kCategory;
  options.errors = options.checkpointing = false;
  const absl::StatusOr<Summary> summary = AnalyzeSummary(capture, options);
  if (!summary.ok()) return summary.status();
  const absl::StatusOr<std::vector<std::size_t>> devices = DevicesThatCount(*summary, options);
  if (!devices.ok()) return devices.status();
  const std::optional<Category> category = CategoryCalled(name);
  std::set<std::string> names;
  std::uint64_t most = 0;
  bool known = false;
  for (const std::size_t i : *devices) {
    std::uint64_t bytes = 0;
    for (const SummaryRow& row : summary->rows) {
      names.insert(row.name);
      if (category ? row.category != NameOf(*category) : row.name != name) continue;
      known = true;
      if (i < row.by_device.size()) bytes += row.by_device[i].bytes_at_peak;
    }
    most = std::max(most, bytes);
  }
  // A known category without blocks has 0 bytes. An unknown word is an error.
  if (known || category) return most;
  const std::vector<std::string> there(names.begin(), names.end());
  return absl::NotFoundError(
      fmt::format("no category '{}'; there are: {}{}", name, fmt::join(there, ", "), DidYouMean(name, there)));
}

}  // namespace memoir
