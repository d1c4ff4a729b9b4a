// Writes the file of torch's MemoryTracker.save_stats, which MemoryTracker.load reads.
#ifndef TOOLS_VIEW_TORCH_PROFILER_MEMORY_TRACKER_PICKLE_H_
#define TOOLS_VIEW_TORCH_PROFILER_MEMORY_TRACKER_PICKLE_H_

#include <functional>
#include <string_view>

#include "tools/analyze/torch_profiler/memory_tracker.h"

namespace memoir {

// `write` receives the file's bytes in order.
void WriteMemoryTrackerPickle(const MemoryTrackerStats& stats, std::function<void(std::string_view)> write);

}  // namespace memoir

#endif  // TOOLS_VIEW_TORCH_PROFILER_MEMORY_TRACKER_PICKLE_H_
