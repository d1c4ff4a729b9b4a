// What a report's page shows first, as one JSON document: the summary, the devices and their exact instants, what the
// checks found. docs/report.md.
#ifndef TOOLS_VIEW_REPORT_REPORT_FACTS_H_
#define TOOLS_VIEW_REPORT_REPORT_FACTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/accounting/balance.h"
#include "tools/analyze/report/report.h"
#include "tools/analyze/segments/fragmentation.h"
#include "tools/view/json/json.h"
#include "tools/view/report/report_part.h"

namespace memoir {

// What `memoir check` says, one entry for each check.
struct ReportFinding {
  enum class Answer : std::uint8_t { kFine, kFound, kNotKnown };
  std::string check;     // "oom"
  std::string headline;  // one line
  std::string text;      // as `memoir check` prints it
  std::string command;   // that shows more
  Answer answer = Answer::kFine;
};

// `path`: of the capture, with the options of its part before it, as they can be typed; `leaks_path`: with those that
// choose blocks as well. An analysis that failed is "not known", with its error.
std::vector<ReportFinding> FindingsOf(const Capture& capture, const Report& report,
                                      const absl::StatusOr<Fragmentation>& fragmentation,
                                      const absl::StatusOr<Balance>& balance, const std::string& path,
                                      const std::string& leaks_path);

// Sections besides those of the devices: "facts" and "tables". `path`: of the capture alone.
Json ReportFacts(const Capture& capture, const Report& report, const std::vector<ReportFinding>& findings,
                 const std::string& path, const ReportPart& part);
Json ReportTables(const Capture& capture, const Report& report);

}  // namespace memoir

#endif  // TOOLS_VIEW_REPORT_REPORT_FACTS_H_
