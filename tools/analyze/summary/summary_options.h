// The options of a summary: the selection, the grouping of its rows, and its optional parts.
#ifndef TOOLS_ANALYZE_SUMMARY_SUMMARY_OPTIONS_H_
#define TOOLS_ANALYZE_SUMMARY_SUMMARY_OPTIONS_H_

#include "tools/analyze/pass/window/selection.h"
#include "tools/analyze/summary/figures/summary_figures.h"

namespace memoir {

struct SummaryOptions : Selection {
  GroupBy by = GroupBy::kOperator;
  bool errors = true;  // find Summary::out_of_memory
  // True: also estimate the effect of checkpointing for kCategory, and after an out-of-memory error.
  bool checkpointing = true;
  bool endings = false;  // find Summary::endings
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_SUMMARY_OPTIONS_H_
