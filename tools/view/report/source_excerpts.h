// The text of the program around the lines that hold memory, for the page of a report.
//
// The text is read when the report is made. So a file counts only if it was not changed since the recording began, and
// only on the host that recorded it. Only files with names that end in ".py" are read: a capture comes from others and
// may name any file.
#ifndef TOOLS_VIEW_REPORT_SOURCE_EXCERPTS_H_
#define TOOLS_VIEW_REPORT_SOURCE_EXCERPTS_H_

#include <string>

#include "tools/analyze/report/report_content.h"
#include "tools/model/capture.h"
#include "tools/view/json/json.h"

namespace memoir {

// Returns {"files": [{"file": path, "lines": [[number, text], ...]}], "missing": [{"file": path, "why": text}]}. Files
// with the most bytes at the peak come first. `host`: the name of this host.
Json SourceExcerpts(const Capture& capture, const ReportContent& report, const std::string& host);

}  // namespace memoir

#endif  // TOOLS_VIEW_REPORT_SOURCE_EXCERPTS_H_
