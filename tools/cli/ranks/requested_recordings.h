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
  kRecordings,    // all that have parts
  kOfThisHost,    // all with parts made on this host; of files from other hosts, only the names are read
  kSummariesToo,  // also recordings that have only a summary
};

// `capture`: the folder of a job; or a part, a summary or the name of a recording, for this recording alone. NotFound:
// the recording or the folder does not exist.
absl::StatusOr<RequestedRecordings> RecordingsOf(const std::string& capture, RecordingScope wanted);

// `name` is as in file names: "r00003.a0.HOST.4711.p0000.memoir".
bool NamesThisHost(const std::string& name);

}  // namespace memoir

#endif  // TOOLS_CLI_RANKS_REQUESTED_RECORDINGS_H_
