// Wraps look-ups of functions by name, whose results bypass import slots: dlsym (used by ctypes, NCCL and a statically
// linked cudart), cuGetProcAddress, cudaGetDriverEntryPoint. If such a look-up finds a function that Memoir wraps, the
// program receives the wrapper.
//
// With the handles RTLD_NEXT and RTLD_DEFAULT, the result of dlsym depends on its caller. So for these two handles
// Memoir's replacement of dlsym jumps to the real dlsym, which then sees the program's return address. The result is
// not wrapped, and neither `after` nor `look` (below) runs. With any other handle the caller does not matter.
//
// Between recordings, and in a forked child that does not record, every look-up returns the same as without Memoir.
// WatchLookUps makes a function run after look-ups without changing their results (late_library.h uses it).
//
// This code needs no library except libc. Its functions may be called on any thread.
#ifndef INTERPOSE_CUDA_LOOK_UPS_H_
#define INTERPOSE_CUDA_LOOK_UPS_H_

namespace memoir {

// Returns the replacement for import slots of dlsym. nullptr in a process without dlsym, and on machines other than
// x86-64 and aarch64, for which there is no code that preserves the caller's return address. While results are wrapped,
// `after` runs after each look-up, before the caller receives the result.
void* DlsymHook(void (*after)());
// Finds and returns the process's own dlsym, on any machine. nullptr in a process without dlsym.
void* FindRealDlsym();
// Returns the result of an earlier FindRealDlsym. nullptr before that.
void* RealDlsym();

// Turns the wrapping of results on when a recording begins, and off when it ends.
void WrapLookUps(bool wrapped);

// Makes `look` run after each look-up that found a function or variable, even before a recording. nullptr stops this.
// If `look` changes the state of dlerror, `look` must restore that state.
void WatchLookUps(void (*look)());

}  // namespace memoir

#endif  // INTERPOSE_CUDA_LOOK_UPS_H_
