// The part of a capture that a report covers if a selection omits the rest. It is shown in the page's head, title and
// overview.
#ifndef TOOLS_VIEW_REPORT_REPORT_PART_H_
#define TOOLS_VIEW_REPORT_REPORT_PART_H_

#include <string>
#include <vector>

#include "tools/analyze/report/report_content.h"
#include "tools/view/json/json.h"

namespace memoir {

struct ReportPart {
  std::string window;              // "steps 10:12 of 60"; empty: the whole recording
  std::string blocks;              // "blocks of modules layers.3"; empty: all blocks
  std::string devices;             // "rank 0, device cuda:0"; empty: all devices
  std::string options;             // the options of the selection, for commands: "--steps 10:12 "
  std::vector<std::string> notes;  // figures that cover more than the part, with the reason
  // Returns "steps 10:12 of 60, blocks of modules layers.3". Empty if the report covers everything.
  std::string text() const;
};

ReportPart PartOf(const ReportContent& report, const Selection& selection, const std::string& options);
// Null if the report covers everything.
Json PartJson(const ReportPart& part);

}  // namespace memoir

#endif  // TOOLS_VIEW_REPORT_REPORT_PART_H_
