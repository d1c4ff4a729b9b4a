// Versions of symbols: which one an import asks for, and whether a definition is of it, as the loader compares them.
// Valid as long as the object's dynamic section is. libc only.
#ifndef INTERPOSE_SYMBOL_VERSIONS_H_
#define INTERPOSE_SYMBOL_VERSIONS_H_

#include <cstdint>

#include "interpose/loaded_object.h"

namespace memoir {

// That the object asks for with the symbol (by its index); nullptr: any.
const char* NeededVersion(const DynamicSection& importer, std::uint32_t symbol);

// Whether what the object defines with the symbol will do for who asks for `version`; nullptr: any does.
bool DefinesVersion(const DynamicSection& definer, std::uint32_t symbol, const char* version);

}  // namespace memoir

#endif  // INTERPOSE_SYMBOL_VERSIONS_H_
