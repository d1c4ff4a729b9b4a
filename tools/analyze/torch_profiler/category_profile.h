// The results of torch.profiler's memory profiler for a window of a recording: event tree, data flow, categories,
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
#include "tools/analyze/pass/options.h"
#include "tools/analyze/torch_profiler/timeline.h"
#include "tools/model/capture.h"

namespace memoir {

struct CategoryProfile {
  EventTree tree;
  DataFlowGraph graph;
  std::vector<TimelineRow> rows;  // of all devices that were selected

  // A storage that is a tensor's, and the category of each of its versions that something shows.
  struct Storage {
    AllocationId id = kNoAllocation;
    std::size_t categories = 0;  // its first in `categories`; they end where the next one's begin
  };
  std::vector<Storage> storages;  // by tensor, then storage, as torch sorts its keys
  std::vector<Category> categories;
  absl::Span<const Category> CategoriesOf(std::size_t storage) const;  // index in `storages`

  // Of one device, from its rows: bytes by category.
  using Bytes = std::array<std::int64_t, kTorchCategories>;
  struct Totals {
    DeviceId device;
    std::int64_t peak = 0;
    Bytes at_peak{}, peaks{}, created{}, preexisting{}, last{};
  };
  std::vector<Totals> totals;  // by DeviceId
};

// Errors are those of BuildEventTree.
absl::StatusOr<CategoryProfile> ProfileByTorchRules(const Capture& capture, const Selection& selection);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TORCH_PROFILER_CATEGORY_PROFILE_H_
