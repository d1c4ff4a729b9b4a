// Notices when the program loads a library with dlopen after its start. Memoir does not see the dlopen itself (its
// slots are not redirected: import_slots.h). But a program that loads a library looks up one of its functions, and the
// redirected dlsym notices the library then, before the program receives the result. A library that is used without a
// look-up (through its constructors, or a table that they fill) is not noticed. libc only.
#ifndef INTERPOSE_START_LATE_LIBRARY_H_
#define INTERPOSE_START_LATE_LIBRARY_H_

namespace memoir {

// Calls `then` once, on the thread that looks up, when a library whose file name begins with `name` is loaded. Call it
// once in a process, while it has one thread. False if dlsym cannot be redirected on this machine (look_ups.h).
bool AwaitLibrary(const char* name, void (*then)());

}  // namespace memoir

#endif  // INTERPOSE_START_LATE_LIBRARY_H_
