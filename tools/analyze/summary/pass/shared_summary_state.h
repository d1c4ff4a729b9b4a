// The state that the handlers of a SummaryPass share. Each handler keeps a reference to it.
#ifndef TOOLS_ANALYZE_SUMMARY_PASS_SHARED_SUMMARY_STATE_H_
#define TOOLS_ANALYZE_SUMMARY_PASS_SHARED_SUMMARY_STATE_H_

#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/pass/window/windowed_visitor.h"
#include "tools/analyze/summary/figures/row_table.h"
#include "tools/analyze/summary/figures/summary_figures.h"
#include "tools/model/capture.h"

namespace memoir {

struct SharedSummaryState {
  WindowedVisitor& window;  // the pass: its capture, its selection, and whether the current event lies in the window
  const Grouping& grouping;
  RowTable table;
  Summary summary;  // the result; each handler sets the members that it counts

  const ReplayState& replay() const { return window.state(); }
  const Dictionary& dictionary() const { return window.state().dictionary(); }
  bool in_window() const { return window.in_window(); }
  // Returns false if the summary covers the whole time of the recording.
  bool selects_window() const { return window.selection().window.kind != SelectionWindow::Kind::kAll; }
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_PASS_SHARED_SUMMARY_STATE_H_
