// Symbol versions: which version an import requires, and whether a definition has it, by the loader's rules. Returned
// pointers are valid as long as the object's dynamic section. This code needs no library except libc.
#ifndef INTERPOSE_IMPORTS_SYMBOL_VERSIONS_H_
#define INTERPOSE_IMPORTS_SYMBOL_VERSIONS_H_

#include <cstdint>

#include "interpose/imports/loaded_object.h"

namespace memoir {

// Returns the version that `importer` requires for its symbol number `symbol`. nullptr if any version will do.
const char* NeededVersion(const DynamicSection& importer, std::uint32_t symbol);

// Whether the definition of symbol number `symbol` in `definer` satisfies an import of `version`. True if `version` is
// nullptr.
bool DefinesVersion(const DynamicSection& definer, std::uint32_t symbol, const char* version);

}  // namespace memoir

#endif  // INTERPOSE_IMPORTS_SYMBOL_VERSIONS_H_
