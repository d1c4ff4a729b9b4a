// What tells one process from every other, also after its id was used again: id, start time, boot, pid namespace.
// From /proc. Cold path only; no allocation.
#ifndef INTERPOSE_PROCESS_IDENTITY_H_
#define INTERPOSE_PROCESS_IDENTITY_H_

#include <cstddef>
#include <cstdint>

#include "interpose/export.h"

namespace memoir {

struct ProcessIdentity {
  std::uint64_t pid;
  std::uint64_t start_time;     // clock ticks since boot; 0: /proc does not say
  std::uint64_t pid_namespace;  // 0: unknown
  char boot_id[40];             // "": unknown
};

MEMOIR_INTERPOSE_API ProcessIdentity OwnIdentity();

// Of another process of this pid namespace; start time 0: there is none.
MEMOIR_INTERPOSE_API ProcessIdentity IdentityOf(std::uint64_t pid);

// Whether that process still runs, as far as this one can see: not when it is of another boot or pid namespace, or a
// zombie.
MEMOIR_INTERPOSE_API bool IsRunning(const ProcessIdentity& identity);

}  // namespace memoir

#endif  // INTERPOSE_PROCESS_IDENTITY_H_
