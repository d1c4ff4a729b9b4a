// What a recording lacks, in short: a line for each kind of loss over all processes, for a page that has few lines.
// RenderLosses (capture_text.h) has them in full.
#ifndef TOOLS_VIEW_CAPTURE_LOSS_HEADLINES_H_
#define TOOLS_VIEW_CAPTURE_LOSS_HEADLINES_H_

#include <string>
#include <vector>

#include "tools/model/capture.h"

namespace memoir {

struct LossHeadline {
  std::string text;     // escaped, not wrapped
  bool is_loss = true;  // false: nothing went wrong, but it limits what the figures are of
};

// What makes figures wrong first, then what makes them incomplete, then what is worth knowing.
std::vector<LossHeadline> LossHeadlines(const Capture& capture, const ReplayReport& report);

}  // namespace memoir

#endif  // TOOLS_VIEW_CAPTURE_LOSS_HEADLINES_H_
