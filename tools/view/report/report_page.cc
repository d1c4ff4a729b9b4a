#include "tools/view/report/report_page.h"

namespace memoir {
namespace {

// Placeholders for one report's content: comments in tools/web/src/page.html.
constexpr std::string_view kTitle = "<!--memoir:title-->", kSections = "<!--memoir:sections-->";

}  // namespace

std::string EscapedForHtml(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += letter;
    }
  }
  return escaped;
}

absl::Status WriteReportPage(std::string_view page, std::string_view title, const std::vector<ReportSection>& sections,
                             const std::function<void(std::string_view)>& write) {
  const std::size_t at_title = page.find(kTitle), at_sections = page.find(kSections);
  if (at_title == std::string_view::npos || at_sections == std::string_view::npos || at_sections < at_title)
    return absl::InvalidArgumentError("the page of the report is damaged: install Memoir again");
  write(page.substr(0, at_title));
  write(EscapedForHtml(title));
  page.remove_prefix(at_title + kTitle.size());
  write(page.substr(0, at_sections - at_title - kTitle.size()));
  for (const ReportSection& section : sections) {
    // Browsers do not run scripts of this type, so the page's security policy does not apply.
    write("<script type=\"application/octet-stream\" id=\"" + section.name + "\">");
    write(section.content);
    write("</script>\n");
  }
  write(page.substr(at_sections - at_title - kTitle.size() + kSections.size()));
  return absl::OkStatus();
}

}  // namespace memoir
