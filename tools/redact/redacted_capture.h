// Copies a capture with hashed names: the same chunks with the same events.
//
// Only fields that this code knows are copied. An unreadable payload is replaced by another unreadable payload, so that
// readers find the same totals and losses in the copy.
#ifndef TOOLS_REDACT_REDACTED_CAPTURE_H_
#define TOOLS_REDACT_REDACTED_CAPTURE_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/read/part_file.h"
#include "tools/redact/name_hashes.h"

namespace memoir {

using WriteBytes = std::function<void(std::string_view)>;

// Returns the file name of the redacted part, with the original rank and number and a hashed host.
std::string RedactedFileName(const PartFile& part, NameHashes& hashes);

// Writes the redacted copy of a part. `write` receives its bytes in order.
void WriteRedactedPart(const PartFile& part, NameHashes& hashes, const WriteBytes& write);

// Returns the redacted file with the names of native frames in the capture folder. Empty if the file does not exist.
// Returns an error if the file is damaged; the redacted capture then has no such file.
absl::StatusOr<std::string> RedactedSymbols(const std::string& capture, NameHashes& hashes);

}  // namespace memoir

#endif  // TOOLS_REDACT_REDACTED_CAPTURE_H_
