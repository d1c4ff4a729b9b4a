// User ranges of NVTX as ranges of the recording (interpose/nvtx_injection.h): of the thread that pushes them, nested
// in torch's own. torch.profiler does not see them.
#ifndef TRACKER_TORCH_NVTX_RANGES_H_
#define TRACKER_TORCH_NVTX_RANGES_H_

namespace memoir {

// By whoever starts a recording. What was pushed before has no begin, and is left out.
void InstallNvtxRanges();

}  // namespace memoir

#endif  // TRACKER_TORCH_NVTX_RANGES_H_
