// Redacts words of a program. Words are hashed, except for public words. Short numbers and punctuation stay, so that
// analyses find the same structure.
//
// Different words have different hashes. Call these functions on the thread that uses `hashes`.
#ifndef TOOLS_REDACT_HASHED_WORDS_H_
#define TOOLS_REDACT_HASHED_WORDS_H_

#include <string>
#include <string_view>

#include "tools/redact/name_hashes.h"

namespace memoir {

// Redacts one identifier. A number of up to five digits stays, and so do leading and trailing underscores, because
// torch marks operators that write in place with an underscore.
std::string HashedWord(std::string_view word, NameHashes& hashes);
// Redacts "layers.3.mlp.weight" word by word.
std::string HashedPath(std::string_view dotted, NameHashes& hashes);
// Redacts the class of a root module: "Net#2".
std::string HashedRoot(std::string_view root, NameHashes& hashes);
// Redacts "mine::add.Tensor". torch's operators stay.
std::string HashedOperator(std::string_view name, NameHashes& hashes);
// Redacts all words except types. The schema of a torch operator stays.
std::string HashedSchema(std::string_view schema, NameHashes& hashes);
// Redacts a demangled function of C or C++.
std::string HashedFunction(std::string_view function, NameHashes& hashes);
// Redacts a kernel, mangled or in the form of torch.profiler. The name of a torch kernel stays, without its template
// arguments.
std::string HashedKernel(std::string_view kernel, NameHashes& hashes);
// Redacts a sentence as one text. The class of an error stays if it belongs to Python or torch.
std::string HashedText(std::string_view text, NameHashes& hashes);
// Redacts "2.11.0+cu128". The part after the plus stays only if torch's own wheels have it.
std::string HashedVersion(std::string_view version, NameHashes& hashes);

bool IsDigits(std::string_view text);

}  // namespace memoir

#endif  // TOOLS_REDACT_HASHED_WORDS_H_
