// Prints categories by torch's rules as JSON, section by section, and a memory timeline in the forms of
// torch.profiler's export_memory_timeline.
#ifndef TOOLS_VIEW_TORCH_PROFILER_CATEGORY_VIEW_H_
#define TOOLS_VIEW_TORCH_PROFILER_CATEGORY_VIEW_H_

#include <string>

#include "tools/analyze/torch_profiler/category_profile.h"
#include "tools/view/torch_profiler/data_flow_view.h"

namespace memoir {

// Writes the JSON document that docs/json.md describes, section by section.
void WriteCategoriesJson(const CategoryProfile& profile, const TextWriter& write);

// These two functions return the timeline of one device.
std::string TimelineJson(const CategoryProfile& profile, DeviceId device);     // [times, sizes]
std::string RawTimelineJson(const CategoryProfile& profile, DeviceId device);  // [[ns, action, bytes, category], ...]

}  // namespace memoir

#endif  // TOOLS_VIEW_TORCH_PROFILER_CATEGORY_VIEW_H_
