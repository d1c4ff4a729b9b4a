// Makes a recording's summary messages (proto/memoir/v1/summary.proto) from its events.
#ifndef TOOLS_ANALYZE_RANKS_JOB_RECORDING_SUMMARY_H_
#define TOOLS_ANALYZE_RANKS_JOB_RECORDING_SUMMARY_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "memoir/v1/summary.pb.h"
#include "tools/model/capture.h"

namespace memoir {

// Returns a summary for each process of the capture, in the order of processes. Does not fill in parts and symbols.
// Runs one replay for categories and one for everything else; on a GPU one more for library workspaces.
absl::StatusOr<v1::RecordingSummaries> SummarizeRecordings(const Capture& capture);

// If the message has more than `most_bytes` bytes, drops rows of compositions. If it is still larger, drops all
// windows, compositions, growth and refused requests.
void FitInto(std::size_t most_bytes, v1::RecordingSummaries& summaries);

// Returns "rank 3", "rank 3 restart 1", or "no rank (pid 100)", as tools/model/job.h does, but from this recording
// alone.
std::string RankLabel(const v1::RecordingSummary& recording);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_JOB_RECORDING_SUMMARY_H_
