// What functions in C are called, as Python writes them, without the address: "<built-in function len>", "<built-in
// method add of type object>". With the GIL held.
#ifndef TRACKER_STACKS_BUILTIN_NAMES_H_
#define TRACKER_STACKS_BUILTIN_NAMES_H_

#include <cstdint>

#include "tracker/stacks/open_calls.h"

namespace memoir {

// In the ring's table of names; 0: that is full.
std::uint32_t BuiltinName(const BuiltinCall& call);

}  // namespace memoir

#endif  // TRACKER_STACKS_BUILTIN_NAMES_H_
