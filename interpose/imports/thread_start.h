// Makes each new thread run a function before anything else, to set thread-local state of torch that must be the same
// on all threads from the start. Applies to threads that any loaded object starts with pthread_create; objects that are
// loaded later are included by RunAtThreadStartOfLateObjects. Threads that already run are not affected.
//
// This code needs no library except libc.
#ifndef INTERPOSE_IMPORTS_THREAD_START_H_
#define INTERPOSE_IMPORTS_THREAD_START_H_

#include "interpose/system/export.h"

namespace memoir {

// Sets the function. Another call replaces it, but a thread that is being started may still run the previous one, so
// functions must stay valid until the process ends. False if the calls of some object could not be redirected, because
// the page of its import slot could not be made writable. May be called on any thread, but not on two threads at once.
MEMOIR_INTERPOSE_API bool RunAtThreadStart(void (*function)());

// Redirects the calls of pthread_create in the objects that were loaded since the last call of this function. Cheap if
// no object was loaded. Does nothing before RunAtThreadStart. May be called on any thread, but not on two threads at
// once.
MEMOIR_INTERPOSE_API void RunAtThreadStartOfLateObjects();

}  // namespace memoir

#endif  // INTERPOSE_IMPORTS_THREAD_START_H_
