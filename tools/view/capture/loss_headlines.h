// The losses of a recording, one line for each kind over all processes, for a page with few lines. RenderLosses
// (capture_text.h) prints them in full.
#ifndef TOOLS_VIEW_CAPTURE_LOSS_HEADLINES_H_
#define TOOLS_VIEW_CAPTURE_LOSS_HEADLINES_H_

#include <string>
#include <vector>

#include "tools/model/capture.h"

namespace memoir {

struct LossHeadline {
  std::string text;     // escaped, not wrapped
  bool is_loss = true;  // false: nothing went wrong, but the figures cover only a part
  bool is_end = false;  // true: the line only states how processes ended
};

// Ordered by severity: losses that make figures wrong, losses that make figures incomplete, other facts.
std::vector<LossHeadline> LossHeadlines(const Capture& capture, const ReplayReport& report);

}  // namespace memoir

#endif  // TOOLS_VIEW_CAPTURE_LOSS_HEADLINES_H_
