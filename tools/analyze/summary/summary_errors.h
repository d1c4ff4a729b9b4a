// Adds out-of-memory errors, bad ends and the effect of checkpointing to a summary. Each of these needs another replay,
// but few captures have errors or bad ends.
#ifndef TOOLS_ANALYZE_SUMMARY_SUMMARY_ERRORS_H_
#define TOOLS_ANALYZE_SUMMARY_SUMMARY_ERRORS_H_

#include "absl/status/status.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"

namespace memoir {

// Fills in DeviceRow::checkpointing. `categories`: from the same capture and rank.
absl::Status AddCheckpointing(const Capture& capture, const Selection& selection, const BlockCategories& categories,
                              Summary& summary);
// Determines the categories first.
absl::Status AddCheckpointing(const Capture& capture, const Selection& selection, Summary& summary);

// Returns true if a request for memory was refused in the window.
bool RanOutOfMemory(const Summary& summary);

// Fills in Summary::endings. Replays the capture only if there is a bad end.
absl::Status AddEndings(const Capture& capture, const Selection& selection, Summary& summary);

// Fills in Summary::out_of_memory. Replays the capture only if there is an error.
absl::Status AddOutOfMemory(const Capture& capture, const Selection& selection, Summary& summary);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_SUMMARY_ERRORS_H_
