// Look-ups of functions by name, whose results are called past all import slots: dlsym (ctypes, NCCL, a cudart that is
// linked statically), cuGetProcAddress, cudaGetDriverEntryPoint. Where one returns a function that is wrapped, the
// program gets the wrapper.
//
// What dlsym means with RTLD_NEXT and RTLD_DEFAULT depends on where it is called from: such calls go on to the real
// one by a jump, with the caller's return address, and what they find is not wrapped. With any other handle the caller
// does not matter.
//
// Between recordings, and in a forked child that does not record, every look-up yields what it would without Memoir.
// Before the first one somebody may wait for a look-up, and change nothing of it (late_library.h).
//
// libc only. Any thread.
#ifndef INTERPOSE_CUDA_LOOK_UPS_H_
#define INTERPOSE_CUDA_LOOK_UPS_H_

namespace memoir {

// What slots of dlsym are to hold; nullptr where it cannot be done: on a machine that is neither x86-64 nor aarch64,
// for which the code is written that keeps the caller's return address, or in a process that has no dlsym.
// `after` runs after each look-up, before its result is known to the caller.
void* DlsymHook(void (*after)());
// The process's own dlsym, on any machine; nullptr before FindRealDlsym, and where there is none.
void* FindRealDlsym();
void* RealDlsym();

// A recording begins, or it ends.
void WrapLookUps(bool wrapped);

// `look` runs after each look-up that found something, before a recording too; nullptr: nothing does any more. Whatever
// it leaves in dlerror is its own affair.
void WatchLookUps(void (*look)());

}  // namespace memoir

#endif  // INTERPOSE_CUDA_LOOK_UPS_H_
