// torch.profiler's memory timeline: allocations, writes and frees of storages in the order of time. A write makes a new
// version of a storage, and each version has a category.
#ifndef TOOLS_ANALYZE_TORCH_PROFILER_TIMELINE_H_
#define TOOLS_ANALYZE_TORCH_PROFILER_TIMELINE_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/analyze/categories/category.h"
#include "tools/analyze/torch_profiler/torch_rules.h"

namespace memoir {

enum class TimelineAction : std::uint8_t { kPreexisting = 1, kCreate, kIncrementVersion, kDestroy };
std::string_view ToString(TimelineAction action);  // "PREEXISTING", ...

struct TimelineEvent {
  static constexpr std::int64_t kBefore = -1;

  std::int64_t ns = kBefore;  // kBefore: live when the selection began
  TimelineAction action = TimelineAction::kPreexisting;
  AllocationId storage = kNoAllocation;  // kNoAllocation: memory without a known tensor
  std::uint32_t version = 0;             // kIncrementVersion: the version before the increment
  std::uint64_t bytes = 0;
  DeviceId device;
};

// `known`: the result of KnownVersions.
std::vector<TimelineEvent> BuildTimeline(const EventTree& tree, const DataFlowGraph& graph,
                                         const std::vector<bool>& known, const CategoryTable& table);

// A row of torch's raw export. A kIncrementVersion event has two rows, any other event has one.
struct TimelineRow {
  std::int64_t ns = 0;
  TimelineAction action = TimelineAction::kPreexisting;
  std::int64_t bytes = 0;  // negative: the category loses these bytes
  Category category = Category::kUnknown;
  AllocationId storage = kNoAllocation;
  std::uint32_t version = 0;
  DeviceId device;
};
std::vector<TimelineRow> RowsOf(const std::vector<TimelineEvent>& events, const CategoryTable& table);

// Bytes by category from an instant on. torch's export_memory_timeline writes the same columns after a column of zeros.
struct TimelineState {
  std::int64_t us = 0;
  std::array<std::int64_t, kTorchCategories> bytes{};
};
std::vector<TimelineState> StatesOf(const std::vector<TimelineRow>& rows);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TORCH_PROFILER_TIMELINE_H_
