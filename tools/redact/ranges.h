// Free texts of a capture as a redacted one has them: user ranges, nodes of autograd, marks, names of parameters,
// kernels, libraries and threads. What they are shows in their text alone.
//
// Used by one thread, that of `hashes`.
#ifndef TOOLS_REDACT_RANGES_H_
#define TOOLS_REDACT_RANGES_H_

#include <string>
#include <string_view>

#include "tools/redact/name_hashes.h"

namespace memoir {

std::string HashedRange(std::string_view text, NameHashes& hashes);
std::string HashedThread(std::string_view name, NameHashes& hashes);

}  // namespace memoir

#endif  // TOOLS_REDACT_RANGES_H_
