// The ring's table of the names of operators, kernels, modules and code. Entries are added and never changed. Each name
// is defined once, on a cold path. The ring's file contains all that is needed to read the table.
//
// An entry consists of three lengths, its kind, and three byte strings:
//   operator   name, schema, one byte for each argument (1 if the operator writes to it)
//   kernel     name, empty string, empty string
//   module     path, class, root
//   code       function, file, empty string
#ifndef INTERPOSE_RING_NAME_TABLE_H_
#define INTERPOSE_RING_NAME_TABLE_H_

#include <cstdint>

#include "interpose/ring/ring_layout.h"

namespace memoir {

// These functions add an entry and return its id, from 1. 0 if the table is full. DefineName is for operators and
// kernels.
std::uint32_t DefineName(const RingMap& ring, const char* name, const char* schema, const std::uint8_t* written,
                         std::size_t arguments);
std::uint32_t DefineModule(const RingMap& ring, const char* root, const char* path, const char* class_name);
std::uint32_t DefineCode(const RingMap& ring, const char* file, const char* function);
// Fills `view` with the entry `id`. False if the id or the entry is invalid. Checks every offset and length, because
// the table may come from a damaged file.
bool LookUpName(const RingMap& ring, std::uint32_t id, NameView* view);

}  // namespace memoir

#endif  // INTERPOSE_RING_NAME_TABLE_H_
