// Receives a program's NVTX calls and reports its push and pop ranges as user ranges: nvtxRangePush, nvtxRangePop,
// nvtxDomainRangePushEx, nvtxDomainRangePop, torch.cuda.nvtx, the Python package nvtx.
//
//   NVTX's headers, at the first call of a library ──► dlopen(NVTX_INJECTION64_PATH) ──► InitializeInjectionNvtx2 here
//   each push and pop ──► callbacks here ──► the follower, on the thread of the range
//
// Memoir sets the variable NVTX_INJECTION64_PATH only if it is not set, so another profiler keeps its ranges. The ABI
// is defined in nvtx3/nvtxDetail/nvtxTypes.h and nvtxInitDecls.h. Not reported: ranges that end on another thread
// (nvtxRangeStart), marks, colors, payloads, and the ranges of CUB, Thrust and NCCL. On each thread, the reported
// ranges of all domains form one stack. This code needs no library except libc.
#ifndef INTERPOSE_IMPORTS_NVTX_INJECTION_H_
#define INTERPOSE_IMPORTS_NVTX_INJECTION_H_

#include <cstdint>

#include "interpose/system/export.h"

namespace memoir {

// Functions that are called on the thread of a range. `depth`: the number of NVTX ranges that are open around the range
// on this thread. `text` is valid during the call.
struct NvtxFollower {
  void (*begin)(std::uint32_t depth, const char* text);
  void (*end)(std::uint32_t depth);
};

// Reports all further ranges to `follower`, whether recording is on or off. `follower` must never be freed.
MEMOIR_INTERPOSE_API void FollowNvtx(const NvtxFollower* follower);

}  // namespace memoir

// NVTX's headers look for a function of this name. `get_table`: NvtxGetExportTableFunc_t. Returns 1 if ranges are
// followed.
extern "C" MEMOIR_INTERPOSE_API int InitializeInjectionNvtx2(const void* (*get_table)(std::uint32_t id));

#endif  // INTERPOSE_IMPORTS_NVTX_INJECTION_H_
