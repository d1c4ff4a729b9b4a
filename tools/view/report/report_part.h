// What a report is of, where its selection leaves out a part of the capture: for the page's head, its title and its
// overview.
#ifndef TOOLS_VIEW_REPORT_REPORT_PART_H_
#define TOOLS_VIEW_REPORT_REPORT_PART_H_

#include <string>
#include <vector>

#include "tools/analyze/report/report.h"
#include "tools/view/json/json.h"

namespace memoir {

struct ReportPart {
  std::string window;              // "steps 10:12 of 60"; "": all of the recording
  std::string blocks;              // "blocks of modules layers.3"; "": all
  std::string devices;             // "rank 0, device cuda:0"; "": all
  std::string options;             // that chose it, as they can be typed before the capture: "--steps 10:12 "
  std::vector<std::string> notes;  // which figures are of more than that, and why
  // "steps 10:12 of 60, blocks of modules layers.3"; "": the report is of everything.
  std::string text() const;
};

ReportPart PartOf(const Report& report, const Selection& selection, const std::string& options);
// Null where the report is of everything.
Json PartJson(const ReportPart& part);

}  // namespace memoir

#endif  // TOOLS_VIEW_REPORT_REPORT_PART_H_
