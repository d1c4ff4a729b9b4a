// Redacts free texts of a capture: user ranges, autograd nodes, marks, and names of parameters, kernels, libraries and
// threads. The capture does not store the kind of a text, so these functions recognise the kind by the form of the
// text.
//
// Call these functions on the thread that uses `hashes`.
#ifndef TOOLS_REDACT_HASHED_FREE_TEXTS_H_
#define TOOLS_REDACT_HASHED_FREE_TEXTS_H_

#include <string>
#include <string_view>

#include "tools/redact/name_hashes.h"

namespace memoir {

std::string HashedFreeText(std::string_view text, NameHashes& hashes);
std::string HashedThread(std::string_view name, NameHashes& hashes);

}  // namespace memoir

#endif  // TOOLS_REDACT_HASHED_FREE_TEXTS_H_
