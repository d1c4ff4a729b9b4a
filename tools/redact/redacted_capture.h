// A capture as another one without names: the same chunks with the same events, in which texts are hashed.
//
// Nothing is copied that was not understood. What is damaged stays damaged, so that totals and losses are those of the
// original: in place of a payload that cannot be read stands one that cannot be either.
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

// What the part's file is to be called: rank and number are those of the original, the host is hashed.
std::string RedactedFileName(const PartFile& part, NameHashes& hashes);

void WriteRedactedPart(const PartFile& part, NameHashes& hashes, const WriteBytes& write);

// Of the file of native names in a capture's folder; "": there is none. An error: it is damaged, and is left out.
absl::StatusOr<std::string> RedactedSymbols(const std::string& capture, NameHashes& hashes);

}  // namespace memoir

#endif  // TOOLS_REDACT_REDACTED_CAPTURE_H_
