// The out-of-memory errors of a summary, and what would have made room: replays of their own, which few captures have a
// reason to take.
#ifndef TOOLS_ANALYZE_SUMMARY_SUMMARY_ERRORS_H_
#define TOOLS_ANALYZE_SUMMARY_SUMMARY_ERRORS_H_

#include "absl/status/status.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"

namespace memoir {

// Fills DeviceRow::checkpointing. `categories`: of the same capture and rank.
absl::Status AddCheckpointing(const Capture& capture, const Selection& selection, const BlockCategories& categories,
                              Summary& summary);
// Finds the categories first.
absl::Status AddCheckpointing(const Capture& capture, const Selection& selection, Summary& summary);

// Whether memory was refused in the window.
bool RanOut(const Summary& summary);

// Fills Summary::out_of_memory, where it is to be; nothing else is replayed.
absl::Status AddOutOfMemory(const Capture& capture, const Selection& selection, Summary& summary);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_SUMMARY_ERRORS_H_
