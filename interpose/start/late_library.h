// Notices when the program loads a library with dlopen after its start. Memoir does not see the call of dlopen
// (import_slots.h). But a program that loads a library looks up one of its functions, and the redirected dlsym notices
// the library before the program receives the result. A library that is used without a look-up (through its
// constructors, or a table that they fill) is not noticed. libc only.
#ifndef INTERPOSE_START_LATE_LIBRARY_H_
#define INTERPOSE_START_LATE_LIBRARY_H_

namespace memoir {

// Waits for a library whose file name begins with `name`. Calls `then` once, at the first look-up after that library
// was loaded, on the thread of the look-up. Call AwaitLibrary once in a process, while the process has one thread.
// False if dlsym cannot be redirected on this machine (look_ups.h).
bool AwaitLibrary(const char* name, void (*then)());

}  // namespace memoir

#endif  // INTERPOSE_START_LATE_LIBRARY_H_
