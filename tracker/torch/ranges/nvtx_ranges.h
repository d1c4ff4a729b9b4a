// Records the ranges that a program pushes with NVTX (interpose/imports/nvtx_injection.h) as ranges of the thread that
// pushes them, nested in torch's ranges. torch.profiler does not show these ranges.
#ifndef TRACKER_TORCH_RANGES_NVTX_RANGES_H_
#define TRACKER_TORCH_RANGES_NVTX_RANGES_H_

namespace memoir {

// Starts to record NVTX ranges. Call it on the thread that starts a recording. Ranges that the program pushed earlier
// are not recorded, because Memoir did not see their begin.
void InstallNvtxRanges();

}  // namespace memoir

#endif  // TRACKER_TORCH_RANGES_NVTX_RANGES_H_
