// A thread of Memoir's own in the program. All signals are blocked on it: handlers are the program's.
//
// Its stack has room for the static thread-local storage of everything that is loaded, which glibc takes from a
// thread's stack, whoever starts it. libc only.
#ifndef INTERPOSE_OWN_THREAD_H_
#define INTERPOSE_OWN_THREAD_H_

#include <pthread.h>

#include <cstddef>

#include "interpose/export.h"

namespace memoir {

struct OwnThread {
  void* (*body)(void*);
  void* argument;
  std::size_t stack_bytes;  // that `body` needs
};

// 0, or the error of the call that failed. `made` is to be joined; nullptr: the thread is detached.
MEMOIR_INTERPOSE_API int StartOwnThread(const OwnThread& thread, pthread_t* made);

// What of a thread's stack is not its own: static thread-local storage, and what glibc adds to it.
std::size_t StackBytesBesideOwn();

}  // namespace memoir

#endif  // INTERPOSE_OWN_THREAD_H_
