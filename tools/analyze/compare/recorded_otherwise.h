// In what two recordings differ besides their memory: versions, cards, settings, models. Whoever reads their difference
// has to know it first.
#ifndef TOOLS_ANALYZE_COMPARE_RECORDED_OTHERWISE_H_
#define TOOLS_ANALYZE_COMPARE_RECORDED_OTHERWISE_H_

#include <vector>

#include "tools/analyze/compare/comparison.h"

namespace memoir {

struct RecordedSide {
  const Capture& capture;
  const Summary& summary;
  const Held& held;
};
std::vector<Unlike> RecordedOtherwise(const RecordedSide& a, const RecordedSide& b, const ModuleNames& names);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_RECORDED_OTHERWISE_H_
