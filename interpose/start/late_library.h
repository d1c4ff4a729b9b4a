// Waits for a library that the program loads with dlopen after it has started. Nobody tells of a dlopen (its own slots
// are not touched: import_slots.h), but a program that loads a library looks a function of it up: dlsym tells, before
// the program has what it looked for. A program that calls the library without a look-up (its constructors, a table
// that they fill) is not seen. libc only.
#ifndef INTERPOSE_START_LATE_LIBRARY_H_
#define INTERPOSE_START_LATE_LIBRARY_H_

namespace memoir {

// Calls `then` once, on the thread that looks up, when the library whose file's name begins with `name` is loaded. Once
// in a process, while it has one thread. False: it cannot be done on this machine (look_ups.h).
bool AwaitLibrary(const char* name, void (*then)());

}  // namespace memoir

#endif  // INTERPOSE_START_LATE_LIBRARY_H_
