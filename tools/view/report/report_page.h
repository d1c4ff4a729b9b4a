// Writes the file of a report: the page that tools/web builds, with the report's sections in it.
#ifndef TOOLS_VIEW_REPORT_REPORT_PAGE_H_
#define TOOLS_VIEW_REPORT_REPORT_PAGE_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tools/view/report/report_section.h"

namespace memoir {

// Escapes text for HTML.
std::string EscapedForHtml(std::string_view text);

// `page`: the page that tools/web built. InvalidArgument if it is another file. `write` receives the file's bytes in
// order.
absl::Status WriteReportPage(std::string_view page, std::string_view title, const std::vector<ReportSection>& sections,
                             const std::function<void(std::string_view)>& write);

}  // namespace memoir

#endif  // TOOLS_VIEW_REPORT_REPORT_PAGE_H_
