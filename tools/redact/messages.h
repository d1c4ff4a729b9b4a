// The messages of a capture without names: every text in them by the rule of its field. A text whose field has no rule
// is hashed as a whole, and what this program does not know of is left out, so nothing gets through because it is new.
//
// Used by one thread, that of `hashes`.
#ifndef TOOLS_REDACT_MESSAGES_H_
#define TOOLS_REDACT_MESSAGES_H_

#include <string>
#include <string_view>

#include "memoir/v1/capture.pb.h"
#include "memoir/v1/symbols.pb.h"
#include "tools/redact/name_hashes.h"

namespace memoir {

void Redact(v1::ProcessInfo& process, NameHashes& hashes);
void Redact(v1::Payload& payload, NameHashes& hashes);
void Redact(v1::Symbols& symbols, NameHashes& hashes);

// Whether a field of the schema, by its full name, has a rule.
bool HasRedactionRule(std::string_view field);

}  // namespace memoir

#endif  // TOOLS_REDACT_MESSAGES_H_
