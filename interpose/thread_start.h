// A function that each new thread runs before anything else: for thread-local state of torch's that has to be the same
// on all threads from the start. Threads of any language, started through pthread_create by an object that is loaded
// when the function is named or when RunAtThreadStartOfLateObjects was called last; threads that run already are not
// touched. libc only.
#ifndef INTERPOSE_THREAD_START_H_
#define INTERPOSE_THREAD_START_H_

#include "interpose/export.h"

namespace memoir {

// Any thread, one at a time. Another call names another function. For ever: a thread that is being started may still
// run the one before. False when the calls of some object could not be redirected, for want of permission.
MEMOIR_INTERPOSE_API bool RunAtThreadStart(void (*function)());

// Sees to objects that were loaded since. Cheap when there are none; does nothing before RunAtThreadStart. Any thread,
// one at a time.
MEMOIR_INTERPOSE_API void RunAtThreadStartOfLateObjects();

}  // namespace memoir

#endif  // INTERPOSE_THREAD_START_H_
