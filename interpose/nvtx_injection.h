// User ranges of NVTX (nvtxRangePush and nvtxRangePop, those of domains, torch.cuda.nvtx, the Python package nvtx): how
// this library becomes what a program's NVTX calls.
//
//   NVTX's headers, at the first call of a library ──► dlopen(NVTX_INJECTION64_PATH) ──► InitializeInjectionNvtx2 here
//   each push and pop ──► callbacks here ──► who follows, on the thread of the range
//
// The variable is set only where nobody has (python/memoir/_library.py): a profiler that is there keeps its ranges.
// ABI: nvtx3/nvtxDetail/nvtxTypes.h, nvtxInitDecls.h. Ranges that begin on one thread and end on another
// (nvtxRangeStart), marks, colours, payloads and the ranges of CUB, Thrust and NCCL are not followed; ranges of all
// other domains of a thread are one stack. libc only.
#ifndef INTERPOSE_NVTX_INJECTION_H_
#define INTERPOSE_NVTX_INJECTION_H_

#include <cstdint>

#include "interpose/export.h"

namespace memoir {

// `depth`: ranges of NVTX that are open around it on the thread. `text` is valid during the call.
struct NvtxFollower {
  void (*begin)(std::uint32_t depth, const char* text);
  void (*end)(std::uint32_t depth);
};

// From here on, and for ever: followers decide themselves what they record. Must stay.
MEMOIR_INTERPOSE_API void FollowNvtx(const NvtxFollower* follower);

}  // namespace memoir

// What NVTX looks for, by this name. `get_table`: NvtxGetExportTableFunc_t. 1: ranges are followed.
extern "C" MEMOIR_INTERPOSE_API int InitializeInjectionNvtx2(const void* (*get_table)(std::uint32_t id));

#endif  // INTERPOSE_NVTX_INJECTION_H_
