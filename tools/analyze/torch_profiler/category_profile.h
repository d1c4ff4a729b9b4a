// The results of torch.profiler's memory profiler for a window of a recording: event tree, data flow, categories and
// timeline.
#ifndef TOOLS_ANALYZE_TORCH_PROFILER_CATEGORY_PROFILE_H_
#define TOOLS_ANALYZE_TORCH_PROFILER_CATEGORY_PROFILE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tools/analyze/categories/category.h"
#include "tools/analyze/data_flow/data_flow_graph.h"
#include "tools/analyze/data_flow/event_tree.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/analyze/torch_profiler/timeline.h"
#include "tools/model/capture.h"

namespace memoir {

struct CategoryProfile {
  EventTree tree;
  DataFlowGraph graph;
  std::vector<TimelineRow> rows;  // rows of all selected devices

  // A storage of a tensor. CategoriesOf() returns the categories of those versions of the storage that the profile
  // contains.
  struct Storage {
    AllocationId id = kNoAllocation;
    std::size_t categories = 0;  // index of its first category in CategoryProfile::categories
  };
  std::vector<Storage> storages;  // ordered by tensor, then by storage, as torch sorts its keys
  std::vector<Category> categories;
  absl::Span<const Category> CategoriesOf(std::size_t storage) const;  // `storage`: an index in `storages`

  // Bytes of one device by category, from its rows.
  using Bytes = std::array<std::int64_t, kTorchCategories>;
  struct Totals {
    DeviceId device;
    std::int64_t peak = 0;
    Bytes at_peak{}, peaks{}, created{}, preexisting{}, last{};
  };
  std::vector<Totals> totals;  // by DeviceId
};

// Returns the same errors as BuildEventTree.
absl::StatusOr<CategoryProfile> ProfileByTorchRules(const Capture& capture, const Selection& selection);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TORCH_PROFILER_CATEGORY_PROFILE_H_
