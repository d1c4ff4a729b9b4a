// A memory timeline as torch.profiler's export_memory_timeline_html writes it: a page with one picture, in which bytes
// are stacked by category over time, in torch's colours.
#ifndef TOOLS_VIEW_PICTURE_TIMELINE_PAGE_H_
#define TOOLS_VIEW_PICTURE_TIMELINE_PAGE_H_

#include <string>

#include "tools/analyze/torch_profiler/category_profile.h"
#include "tools/model/event.h"

namespace memoir {

std::string TimelinePng(const CategoryProfile& profile, DeviceId device);   // 1,600 by 960 pixels, as torch's
std::string TimelineHtml(const CategoryProfile& profile, DeviceId device);  // the page around it; it loads nothing

}  // namespace memoir

#endif  // TOOLS_VIEW_PICTURE_TIMELINE_PAGE_H_
