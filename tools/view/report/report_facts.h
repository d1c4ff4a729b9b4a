// The first section of a report's page, as one JSON document: the summary, the devices, the instants whose live blocks
// the report lists completely (ReportInstant), and the findings of the checks (docs/hacking.md).
#ifndef TOOLS_VIEW_REPORT_REPORT_FACTS_H_
#define TOOLS_VIEW_REPORT_REPORT_FACTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/accounting/balance.h"
#include "tools/analyze/report/report_content.h"
#include "tools/analyze/segments/fragmentation.h"
#include "tools/view/json/json.h"
#include "tools/view/report/report_part.h"

namespace memoir {

// The result of one check of `memoir check`.
struct ReportFinding {
  // kHarmed: the program failed, was slowed down or will run out of memory. kWorthALook: memory is wasted, or its
  // use is not explained.
  enum class Answer : std::uint8_t { kFine, kWorthALook, kHarmed, kNotKnown };
  struct Device {
    std::string name;
    ProcessId process;
  };
  std::string check;     // "oom"
  std::string headline;  // one line
  std::string text;      // as `memoir check` prints it
  std::string command;   // command that shows more
  Answer answer = Answer::kFine;
  std::vector<Device> devices;  // of kHarmed and kWorthALook: where, the worst first
};

// `path`: path of the capture as typed, after the options of the report's part. `leaks_path`: the same, also with the
// options that choose blocks. If an analysis failed, its finding is kNotKnown with the error.
std::vector<ReportFinding> FindingsOf(const Capture& capture, const ReportContent& report,
                                      const absl::StatusOr<Fragmentation>& fragmentation,
                                      const absl::StatusOr<Balance>& balance, const std::string& path,
                                      const std::string& leaks_path);

// Return the sections that belong to no device: "facts" and "tables". `path`: path of the capture without options.
Json ReportFacts(const Capture& capture, const ReportContent& report, const std::vector<ReportFinding>& findings,
                 const std::string& path, const ReportPart& part);
Json ReportTables(const Capture& capture, const ReportContent& report);

}  // namespace memoir

#endif  // TOOLS_VIEW_REPORT_REPORT_FACTS_H_
