// Redacts the protobuf messages of a capture. A rule for each field determines how its text is redacted. A text in a
// field without a rule is hashed as a whole, and unknown fields are removed. So the text of a new field never leaks.
//
// Call these functions on the thread that uses `hashes`.
#ifndef TOOLS_REDACT_REDACTED_MESSAGES_H_
#define TOOLS_REDACT_REDACTED_MESSAGES_H_

#include <string>
#include <string_view>

#include "memoir/v1/capture.pb.h"
#include "memoir/v1/symbols.pb.h"
#include "tools/redact/name_hashes.h"

namespace memoir {

void Redact(v1::ProcessInfo& process, NameHashes& hashes);
void Redact(v1::Payload& payload, NameHashes& hashes);
void Redact(v1::Symbols& symbols, NameHashes& hashes);

// Returns true if the field with this full name in the schema has a rule.
bool HasRedactionRule(std::string_view field);

}  // namespace memoir

#endif  // TOOLS_REDACT_REDACTED_MESSAGES_H_
