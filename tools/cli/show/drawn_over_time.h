// The files of `memoir show --over time --png FILE --svg FILE`.
#ifndef TOOLS_CLI_SHOW_DRAWN_OVER_TIME_H_
#define TOOLS_CLI_SHOW_DRAWN_OVER_TIME_H_

#include <string>

#include "absl/status/status.h"
#include "tools/analyze/time/over_time_curves.h"
#include "tools/model/capture.h"

namespace memoir {

struct DrawnFiles {
  std::string png, svg;  // "": no such file
  bool dark = false;
};

// If the capture has more ranks than fit into a picture, draws its odd ranks.
absl::Status DrawOverTime(const Capture& capture, const OverTimeCurves& over_time, const DrawnFiles& files);

}  // namespace memoir

#endif  // TOOLS_CLI_SHOW_DRAWN_OVER_TIME_H_
