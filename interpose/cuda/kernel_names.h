// Finds the name of a kernel from the handle that a launch receives. Memoir queries CUDA once for each kernel and
// caches the name.
//
//   host function, CUfunction, CUkernel ──► table ──► id in the ring's name table
//                                             └─ first time: cudaFuncGetName, cuFuncGetName, cuKernelGetName
//
// Memoir does not read the names from the calls of __cudaRegisterFunction, with which a library registers its kernels.
// A library makes these calls while it is loaded, which is usually before the recording begins.
//
// This code needs no library except libc. Its functions may be called on any thread. The only lock that they take is
// the lock of the ring's name table.
#ifndef INTERPOSE_CUDA_KERNEL_NAMES_H_
#define INTERPOSE_CUDA_KERNEL_NAMES_H_

#include <cstdint>

#include "interpose/system/export.h"

namespace memoir {

enum class KernelHandle {
  kHostFunction,  // the host function that represents a kernel
  kKernel,        // CUkernel
  kFunction,      // CUfunction
};

// Limits of one recording; further kernels have no name. The limits keep kernels from filling the ring's name table,
// which also has the names of operators.
inline constexpr std::uint32_t kMostKernelNames = 4096;
inline constexpr std::uint32_t kMostKernelNameBytes = 1u << 20;

// Returns the id of a launched kernel's name in the ring's name table. 0 if CUDA does not report the name (CUDA
// before 12.3), or a limit is reached.
std::uint32_t NameOfKernel(KernelHandle handle, const void* kernel);

// Returns the id of the kernel name `symbol`; equal names have equal ids. 0 if a limit is reached, or the name is
// empty.
MEMOIR_INTERPOSE_API std::uint32_t KernelNameId(const char* symbol);

// Forgets all names when a recording begins, because the recording has a new ring.
void ForgetKernelNames();
// Forgets the handles after code was unloaded, because another kernel may get the same address. Names keep their ids.
void ForgetKernels();

// The number of launches in this recording whose kernel has no name.
std::uint64_t CountUnnamedLaunches();

}  // namespace memoir

#endif  // INTERPOSE_CUDA_KERNEL_NAMES_H_
