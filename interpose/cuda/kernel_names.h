// The names of kernels, by what launches them: asked of CUDA once for each, and kept.
//
//   host function, CUfunction, CUkernel ──► table ──► id in the ring's name table
//                                             └─ first time: cudaFuncGetName, cuFuncGetName, cuKernelGetName
//
// Registrations (__cudaRegisterFunction) are not watched: they are made while a library is loaded, before a recording.
// libc only. Any thread, no lock.
#ifndef INTERPOSE_CUDA_KERNEL_NAMES_H_
#define INTERPOSE_CUDA_KERNEL_NAMES_H_

#include <cstdint>

#include "interpose/export.h"

namespace memoir {

enum class KernelHandle {
  kHostFunction,  // the function that stands for a kernel in host code
  kKernel,        // CUkernel
  kFunction,      // CUfunction
};

// Further kernels of a recording have no name: the ring's table is the operators', too.
inline constexpr std::uint32_t kMostKernelNames = 4096;
inline constexpr std::uint32_t kMostKernelNameBytes = 1u << 20;

// Of a kernel that was launched. 0: CUDA does not say it (before 12.3), or there are too many.
std::uint32_t NameOfKernel(KernelHandle handle, const void* kernel);

// Of one whose symbol is known: the same id. 0: there are too many, or it has none.
MEMOIR_INTERPOSE_API std::uint32_t KernelNameId(const char* symbol);

// A recording begins, in a new ring.
void ForgetKernelNames();
// Code was unloaded: another kernel may come to lie at its address. Names stay.
void ForgetKernels();

// Launches of this recording whose kernel has no name.
std::uint64_t CountUnnamedLaunches();

}  // namespace memoir

#endif  // INTERPOSE_CUDA_KERNEL_NAMES_H_
