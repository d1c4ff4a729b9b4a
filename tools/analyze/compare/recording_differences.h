// Finds differences between two captures other than memory: versions, cards, settings, models. Such a difference may
// explain why the memory differs.
#ifndef TOOLS_ANALYZE_COMPARE_RECORDING_DIFFERENCES_H_
#define TOOLS_ANALYZE_COMPARE_RECORDING_DIFFERENCES_H_

#include <vector>

#include "tools/analyze/compare/comparison.h"

namespace memoir {

// One of the two captures, with its summary and its holdings.
struct RecordedSide {
  const Capture& capture;
  const Summary& summary;
  const CaptureHoldings& held;
};
std::vector<RecordingDifference> FindRecordingDifferences(const RecordedSide& a, const RecordedSide& b,
                                                          const ModuleNames& names);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_RECORDING_DIFFERENCES_H_
