// Starts Memoir's own threads in the program. All signals are blocked on them, because signal handlers belong to the
// program.
//
// The stack of such a thread also has room for the static thread-local storage of all loaded objects, which glibc takes
// from every thread's stack. This code needs no library except libc.
#ifndef INTERPOSE_SYSTEM_OWN_THREAD_H_
#define INTERPOSE_SYSTEM_OWN_THREAD_H_

#include <pthread.h>

#include <cstddef>

#include "interpose/system/export.h"

namespace memoir {

// A thread to start: its function, the argument of this function, and the size of its stack.
struct OwnThread {
  void* (*body)(void*);
  void* argument;
  std::size_t stack_bytes;  // bytes of stack that `body` needs
};

// Starts the thread. Returns 0, or the error code of the call that failed. The caller must join `*made`; if `made` is
// nullptr, the thread is detached.
MEMOIR_INTERPOSE_API int StartOwnThread(const OwnThread& thread, pthread_t* made);

// Returns the bytes of a thread's stack that its functions cannot use: static thread-local storage, and glibc's own
// data.
std::size_t ReservedStackBytes();

}  // namespace memoir

#endif  // INTERPOSE_SYSTEM_OWN_THREAD_H_
