// memoir export redacted: writes a capture with hashes in the place of names.
#ifndef TOOLS_CLI_REDACT_EXPORT_REDACTED_H_
#define TOOLS_CLI_REDACT_EXPORT_REDACTED_H_

#include <string>

#include "absl/status/status.h"

namespace memoir {

struct RedactedExport {
  std::string capture;
  std::string output;  // a folder
  std::string key;     // a file; "": the default key
};
// Describes an invalid argument before anything is read; "" if all are valid.
std::string ComplaintAbout(const RedactedExport& asked);
// Writes all runs of the folder and their snapshots to the folder `output`, which must be empty or must not exist.
// After an error `output` is empty. Makes the key if it does not exist, and stores the hashed names next to it before
// the capture appears.
absl::Status ExportRedacted(const RedactedExport& asked);

}  // namespace memoir

#endif  // TOOLS_CLI_REDACT_EXPORT_REDACTED_H_
