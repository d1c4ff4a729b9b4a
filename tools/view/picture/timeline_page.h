// A memory timeline as in torch.profiler's export_memory_timeline_html: a page with one picture of bytes over time,
// stacked by category, in torch's colours.
#ifndef TOOLS_VIEW_PICTURE_TIMELINE_PAGE_H_
#define TOOLS_VIEW_PICTURE_TIMELINE_PAGE_H_

#include <string>

#include "tools/analyze/torch_profiler/category_profile.h"
#include "tools/model/event/event.h"

namespace memoir {

std::string TimelinePng(const CategoryProfile& profile, DeviceId device);  // 1,600 by 960 pixels, as in torch
// Returns a page with this picture. The page loads nothing.
std::string TimelineHtml(const CategoryProfile& profile, DeviceId device);

}  // namespace memoir

#endif  // TOOLS_VIEW_PICTURE_TIMELINE_PAGE_H_
