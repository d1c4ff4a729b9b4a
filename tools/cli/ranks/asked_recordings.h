// Which recordings of a folder somebody asks to be summarized.
#ifndef TOOLS_CLI_RANKS_ASKED_RECORDINGS_H_
#define TOOLS_CLI_RANKS_ASKED_RECORDINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/read/summary_file.h"

namespace memoir {

struct AskedRecordings {
  JobFiles job;
  std::vector<const NamedFiles*> named;  // of `job`
};

enum class Wanted : std::uint8_t {
  kRecordings,    // all that have parts
  kOfThisHost,    // of these those that this host made; of other files the names alone are read
  kSummariesToo,  // and what is there as a summary alone
};

// `capture`: the folder of a job; or a part, a summary or the name of a recording, for that one alone. NotFound: there
// is no recording, or the folder is not there.
absl::StatusOr<AskedRecordings> RecordingsOf(const std::string& capture, Wanted wanted);

// As names of files have it: "r00003.a0.HOST.4711.p0000.memoir".
bool NamesThisHost(const std::string& name);

}  // namespace memoir

#endif  // TOOLS_CLI_RANKS_ASKED_RECORDINGS_H_
