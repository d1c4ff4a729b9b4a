// memoir export redacted: the capture without names, as a capture.
#ifndef TOOLS_CLI_REDACT_EXPORT_REDACTED_H_
#define TOOLS_CLI_REDACT_EXPORT_REDACTED_H_

#include <string>

#include "absl/status/status.h"

namespace memoir {

struct RedactedExport {
  std::string capture;
  std::string output;  // a folder
  std::string key;     // a file; "": the usual one
};
// "", or what is wrong with it before anything is read.
std::string ComplaintAbout(const RedactedExport& asked);
// All runs of the folder and their snapshots, in `output`, which must not be there or be empty; on an error nothing
// stays in it. Makes the key where there is none, and keeps the names beside it before the capture is there.
absl::Status ExportRedacted(const RedactedExport& asked);

}  // namespace memoir

#endif  // TOOLS_CLI_REDACT_EXPORT_REDACTED_H_
