#include "tools/analyze/summary/figures/summary_figures.h"

namespace memoir {

SummaryColumns Summary::total() const {
  SummaryColumns total;
  for (const SummaryRow& row : rows) total += row.total;
  return total;
}

}  // namespace memoir
