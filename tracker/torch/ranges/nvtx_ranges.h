// Records the ranges that a program pushes with NVTX (interpose/imports/nvtx_injection.h) as ranges of the thread that
// pushes them, nested in torch's ranges. torch.profiler does not see these records.
#ifndef TRACKER_TORCH_RANGES_NVTX_RANGES_H_
#define TRACKER_TORCH_RANGES_NVTX_RANGES_H_

namespace memoir {

// Starts to record ranges. Called by the thread that starts a recording. Ranges that were pushed earlier are left out,
// because their begin was not recorded.
void InstallNvtxRanges();

}  // namespace memoir

#endif  // TRACKER_TORCH_RANGES_NVTX_RANGES_H_
