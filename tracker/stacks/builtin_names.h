// Names of C functions as Python's repr writes them, but without the address: "<built-in function len>", "<built-in
// method add of type object>". Call BuiltinName with the GIL held.
#ifndef TRACKER_STACKS_BUILTIN_NAMES_H_
#define TRACKER_STACKS_BUILTIN_NAMES_H_

#include <cstdint>

#include "tracker/stacks/open_calls.h"

namespace memoir {

// Returns the id of the name in the ring's table of names; 0 if the table is full.
std::uint32_t BuiltinName(const BuiltinCall& call);

}  // namespace memoir

#endif  // TRACKER_STACKS_BUILTIN_NAMES_H_
