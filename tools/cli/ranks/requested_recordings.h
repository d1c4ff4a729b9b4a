// The recordings of a folder that should be summarized.
#ifndef TOOLS_CLI_RANKS_REQUESTED_RECORDINGS_H_
#define TOOLS_CLI_RANKS_REQUESTED_RECORDINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/read/summary_file.h"

namespace memoir {

struct RequestedRecordings {
  JobFiles job;
  std::vector<const NamedFiles*> named;  // in `job`
};

enum class RecordingScope : std::uint8_t {
  kRecordings,    // recordings that have parts
  kOfThisHost,    // recordings with parts of this host; files of other hosts are not opened
  kSummariesToo,  // also recordings that have only a summary
};

// Returns the recordings of `capture`: the folder of a job; or a part, a summary or the name of a recording, for this
// recording alone. NotFound: the recording or the folder does not exist.
absl::StatusOr<RequestedRecordings> RecordingsOf(const std::string& capture, RecordingScope wanted);

// Returns true if the name of a file, such as "r00003.a0.HOST.4711.p0000.memoir", contains this host.
bool NamesThisHost(const std::string& name);

}  // namespace memoir

#endif  // TOOLS_CLI_RANKS_REQUESTED_RECORDINGS_H_
