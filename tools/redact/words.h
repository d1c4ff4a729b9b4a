// Words of a program as a redacted capture has them: hashed, but for what everybody knows, digits and punctuation, so
// that analyses find the structure that they look for.
//
// Two words that differ stay different. Used by one thread, that of `hashes`.
#ifndef TOOLS_REDACT_WORDS_H_
#define TOOLS_REDACT_WORDS_H_

#include <string>
#include <string_view>

#include "tools/redact/name_hashes.h"

namespace memoir {

// One identifier. A number of up to five digits stays, and so do underscores around it: torch marks operators that
// write in place with one.
std::string HashedWord(std::string_view word, NameHashes& hashes);
// "layers.3.mlp.weight": word by word.
std::string HashedPath(std::string_view dotted, NameHashes& hashes);
// "Net#2"
std::string HashedRoot(std::string_view root, NameHashes& hashes);
// "mine::add.Tensor"; one of torch's as it is.
std::string HashedOperator(std::string_view name, NameHashes& hashes);
// All words of it that are no types.
std::string HashedSchema(std::string_view schema, NameHashes& hashes);
// Of C or C++, demangled.
std::string HashedFunction(std::string_view function, NameHashes& hashes);
// A kernel, mangled or as torch.profiler prints it: torch's up to the arguments of its template.
std::string HashedKernel(std::string_view kernel, NameHashes& hashes);
// A sentence: as one. Of an error its class stays, where it is Python's or torch's.
std::string HashedText(std::string_view text, NameHashes& hashes);
// "2.11.0+cu128"; what is behind the plus only where torch's own wheels have it.
std::string HashedVersion(std::string_view version, NameHashes& hashes);

bool IsDigits(std::string_view text);

}  // namespace memoir

#endif  // TOOLS_REDACT_WORDS_H_
