// The one door from the session into the room that knows torch: no torch header is needed to include this.
#ifndef TRACKER_TORCH_HOOKS_H_
#define TRACKER_TORCH_HOOKS_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

// Which hook shows the operators.
enum class OperatorHook {
  kRanges,    // RecordFunction: every range that torch itself shows
  kDispatch,  // the dispatcher's fallback: operators below autograd, as a TorchDispatchMode sees them
};

// Makes ready for `asked`; returns kRanges where that cannot be had, with the cause in `problem`, cut to `size`. Call
// before each recording, from its thread, while recording is off.
OperatorHook PrepareOperatorHook(OperatorHook asked, char* problem, std::size_t size);

// Installs every hook of this torch: ranges, operators, the CPU allocator. Call at the start of each recording, from
// its thread, while recording is off, with what PrepareOperatorHook returned. The hooks stay for the life of the
// process and do nothing while recording is off. `publishes`: blocks of CUDA's allocator, for a tool that listens to
// NVTX (memory_publication.h), which the environment names.
void InstallTorchHooks(OperatorHook operators, bool publishes);

// torch has made its CUDA allocators; before that nothing can be attached to them. Any thread that holds no lock of
// torch's. nullptr, or why they are recorded at device level: one line.
const char* CudaIsReady();
bool CudaIsAtDeviceLevel();

// Why nothing is published, once for each cause, and how many blocks were not, once for so many; else nullptr. One
// line. One thread at a time.
const char* TakePublicationProblem();
const char* TakeUnpublished();

// A span of this recording in which the memory of CUDA devices is not known.
struct CudaGap {
  const char* why;  // one line; never freed
  std::uint64_t begin_tick;
  std::uint64_t end_tick;  // 0: it is open
};
inline constexpr std::size_t kMostCudaGaps = 8;
// In order; returns how many. Any thread; one that is about to change may be caught half-way, and counts as a change
// afterwards.
std::size_t CudaGaps(CudaGap (&found)[kMostCudaGaps]);
// Grows with each change of them.
std::uint32_t CudaGapChanges();

// Recording goes on after it was off, or begins. ForgetCudaBlocks before it does, FindCudaBlocks after: what was live
// all the while is recorded then, and followed. FindCudaBlocks takes locks of torch's.
void ForgetCudaBlocks();
void FindCudaBlocks();

// Puts the hook on ranges into torch's list, or takes it out: what is off costs an operator nothing then, not even the
// preparation of its arguments. Ranges that are open keep what they began with. `true`: any thread; `false`: any of the
// program's. torch takes a lock. `true` may throw where memory runs out: then nothing has changed.
void EnableRangeHook(bool enabled);

// The same for threads of Memoir's own, on which nothing of torch's may run that keeps something for each thread: at
// the first call torch's libraries take memory for all that they keep, and where there is none, the loader ends the
// program. So a thread of the program's does it with its next range. LetRangeHookLeave neither allocates nor locks.
void FindCudaBlocksSoon();
void LetRangeHookLeave();

// Calls `begins` for each user range that begins (record_function, optimizer steps, the profiler's steps), and `ends`
// when it ends, whatever is recorded. Where `begins` says that ranges are recorded from this one on, its begin is
// recorded, too. `range` is any address that is the range's own while it is open. nullptr: no more, by a thread of the
// program's; else any thread. Not while a recording starts or stops on another thread.
struct RangeWatcher {
  bool (*begins)(const void* range, const char* name);
  void (*ends)(const void* range, const char* name);
};
void WatchUserRanges(const RangeWatcher* watcher);

// A user range of the program's own, which all see that watch torch's ranges; nullptr: nobody does. It ends on the
// thread where it began, before those around it.
void* BeginUserRange(const char* name);
void EndUserRange(void* range);

// Whether this thread runs a node of autograd, or a compiler of torch: the modules that are called there, the program
// has not called.
bool InBackwardOrCompiler();

// The running torch's version as its headers state it: "2.11.0".
const char* TorchVersion();

}  // namespace memoir

#endif  // TRACKER_TORCH_HOOKS_H_
