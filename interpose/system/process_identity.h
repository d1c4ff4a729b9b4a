// Identifies a process by its id, start time, boot and pid namespace, so that a later process with the same id is not
// mistaken for it. The functions read /proc, so call them inside RunInOwnFiles (own_files.h) and only on cold paths.
// They allocate nothing.
#ifndef INTERPOSE_SYSTEM_PROCESS_IDENTITY_H_
#define INTERPOSE_SYSTEM_PROCESS_IDENTITY_H_

#include <cstddef>
#include <cstdint>

#include "interpose/system/export.h"

namespace memoir {

struct ProcessIdentity {
  std::uint64_t pid;
  std::uint64_t start_time;     // clock ticks since boot; 0: unknown
  std::uint64_t pid_namespace;  // 0: unknown
  char boot_id[40];             // "": unknown
};

MEMOIR_INTERPOSE_API ProcessIdentity OwnIdentity();

// Returns the identity of another process in this pid namespace. Start time 0 if there is no such process.
MEMOIR_INTERPOSE_API ProcessIdentity IdentityOf(std::uint64_t pid);

// Whether the process still runs. False for a process of another boot or another pid namespace, and for a zombie.
MEMOIR_INTERPOSE_API bool IsRunning(const ProcessIdentity& identity);

}  // namespace memoir

#endif  // INTERPOSE_SYSTEM_PROCESS_IDENTITY_H_
