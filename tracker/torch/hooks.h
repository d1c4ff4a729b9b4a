// The interface between the session and the hooks in torch. Includes no header of torch.
#ifndef TRACKER_TORCH_HOOKS_H_
#define TRACKER_TORCH_HOOKS_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

// The hooks that can record operators.
enum class OperatorHook {
  kRanges,    // RecordFunction: every range that torch's own profiler would show
  kDispatch,  // the dispatcher's fallback: operators below autograd, as a TorchDispatchMode sees them
};

// Prepares the hook `asked` and returns it. If `asked` is not possible, returns kRanges, with the cause in `problem`
// (cut to `size`). Call it before each recording, on the thread that starts the recording, while recording is off.
OperatorHook PrepareOperatorHook(OperatorHook asked, char* problem, std::size_t size);

// Installs every hook for this version of torch: ranges, operators, allocators. Call it at the start of each
// recording, on the thread that starts the recording, while recording is off. `operators`: the result of
// PrepareOperatorHook. The hooks stay until the process ends, and do nothing while recording is off. `publishes`:
// publishes the blocks of torch's CUDA allocator to the tool that the environment names (memory_publication.h).
void InstallTorchHooks(OperatorHook operators, bool publishes);

// Call it once torch has made its CUDA allocators, because the hooks cannot be attached to them earlier. Any thread
// that holds no lock of torch's. If the allocators do not report their blocks, and so are recorded at device level
// (device_level_hook.h), returns one line with the reason; otherwise nullptr.
const char* CudaIsReady();
bool CudaIsAtDeviceLevel();

// Return one line each. One thread at a time. TakePublicationProblem returns the reason why nothing is published, each
// reason once; nullptr if there is no new reason. TakeUnpublished returns a line with the number of blocks that could
// not be published since its last call; nullptr if all were published.
const char* TakePublicationProblem();
const char* TakeUnpublished();

// A span of this recording in which the memory of CUDA devices is not known.
struct CudaGap {
  const char* why;  // one line; never freed
  std::uint64_t begin_tick;
  std::uint64_t end_tick;  // 0: the gap is open
};
inline constexpr std::size_t kMostCudaGaps = 8;
// Copies the gaps, in order, and returns their number. Any thread. If another thread changes a gap during the copy, the
// copy may mix old and new values. The caller then finds that CudaGapChanges has changed.
std::size_t CudaGaps(CudaGap (&found)[kMostCudaGaps]);
// Returns how often gaps have changed so far.
std::uint32_t CudaGapChanges();

// When recording begins or resumes, call ForgetCudaBlocks before, and FindCudaBlocks after. FindCudaBlocks records the
// blocks that are live, and follows them from then on. It takes locks of torch's.
void ForgetCudaBlocks();
void FindCudaBlocks();

// Adds the range hook to torch's list of callbacks, or removes it. Without the hook an operator costs nothing, because
// torch does not even prepare the arguments for callbacks. A range that is open keeps the callbacks with which it
// began. Any thread may pass true; only threads of the program may pass false. Takes a lock of torch's. With true it
// may throw if memory runs out; then nothing has changed.
void EnableRangeHook(bool enabled);

// Request that a thread of the program does work at its next range. FindCudaBlocksLater requests FindCudaBlocks;
// RemoveRangeHookSoon requests EnableRangeHook(false). Both are for Memoir's own threads, which must not call functions
// of torch that have thread-local state. At the first such call, torch's libraries allocate memory for all of this
// state, and if there is no memory, the loader ends the program. RemoveRangeHookSoon does not allocate, and takes no
// lock.
void FindCudaBlocksLater();
void RemoveRangeHookSoon();

// Calls `begins` when a user range begins (record_function, optimizer steps, the profiler's steps), and `ends` when it
// ends, at every level of recording. If `begins` returns true, ranges are recorded from this range on, including the
// begin of this range. `range` is any address that belongs to the range alone while the range is open. nullptr stops
// the calls. Any thread may set a watcher, but only a thread of the program may pass nullptr. Do not call it while
// another thread starts or stops a recording.
struct RangeWatcher {
  bool (*begins)(const void* range, const char* name);
  void (*ends)(const void* range, const char* name);
};
void WatchUserRanges(const RangeWatcher* watcher);

// Begins a user range of the program, which all observers of torch's ranges see. nullptr if there is no observer. End
// the range on the thread where it began, before the ranges around it end.
void* BeginUserRange(const char* name);
void EndUserRange(void* range);

// Returns true if this thread runs an autograd node or a compiler of torch. A module call inside of these is not a call
// by the program.
bool InBackwardOrCompiler();

// Returns the version of the running torch, in the form of torch's headers: "2.11.0".
const char* TorchVersion();

}  // namespace memoir

#endif  // TRACKER_TORCH_HOOKS_H_
