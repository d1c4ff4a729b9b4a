// What proto/memoir/v1/summary.proto says of a recording, from its events.
#ifndef TOOLS_ANALYZE_RANKS_RECORDING_SUMMARY_H_
#define TOOLS_ANALYZE_RANKS_RECORDING_SUMMARY_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "memoir/v1/summary.pb.h"
#include "tools/model/capture.h"

namespace memoir {

// One for each process of the capture, in its order; without the parts and symbols that they are made of. One replay
// for categories, one for all else; on a GPU one more for libraries' workspaces.
absl::StatusOr<v1::RecordingSummaries> SummarizeRecordings(const Capture& capture);

// Leaves out rows, and then all but sums, until it takes at most so many bytes.
void FitInto(std::size_t most_bytes, v1::RecordingSummaries& summaries);

// "rank 3", "rank 3 restart 1"; "no rank (pid 100)": as tools/model/job.h has it, but of a recording by itself.
std::string RankLabel(const v1::RecordingSummary& recording);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_RECORDING_SUMMARY_H_
