// The names of operators, modules and Python code in the ring: append-only, defined once each on a cold path, readable
// from the file alone.
//
// An entry: three lengths and its kind, then text, schema and one byte per argument; of a module path, class and root;
// of code function and file.
#ifndef INTERPOSE_NAME_TABLE_H_
#define INTERPOSE_NAME_TABLE_H_

#include <cstdint>

#include "interpose/ring_layout.h"

namespace memoir {

// Ids from 1; 0 when the table is full.
std::uint32_t DefineName(const RingMap& ring, const char* name, const char* schema, const std::uint8_t* written,
                         std::size_t arguments);
std::uint32_t DefineModule(const RingMap& ring, const char* root, const char* path, const char* class_name);
std::uint32_t DefineCode(const RingMap& ring, const char* file, const char* function);
// Checks every offset and length: the table may come from a damaged file.
bool LookUpName(const RingMap& ring, std::uint32_t id, NameView* view);

}  // namespace memoir

#endif  // INTERPOSE_NAME_TABLE_H_
