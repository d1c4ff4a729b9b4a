// Notices when the program loads a library with dlopen after its start. Memoir does not redirect dlopen
// (import_slots.h). But a program that has loaded a library usually looks up one of its functions with dlsym. The
// redirected dlsym then finds the new library, before the program receives the result. If the program uses a library
// without a look-up (through its constructors, or a table that they fill), Memoir does not notice the library.
//
// This code needs no library except libc.
#ifndef INTERPOSE_START_LATE_LIBRARY_H_
#define INTERPOSE_START_LATE_LIBRARY_H_

namespace memoir {

// Returns at once, and makes `then` run later: once, at the first look-up after a library whose file name begins with
// `name` was loaded, on the thread of the look-up. Call AwaitLibrary once in a process, while the process has one
// thread. False if dlsym cannot be redirected (look_ups.h).
bool AwaitLibrary(const char* name, void (*then)());

}  // namespace memoir

#endif  // INTERPOSE_START_LATE_LIBRARY_H_
