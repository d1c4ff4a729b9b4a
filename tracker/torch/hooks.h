// The functions through which the session (tracker/session/) installs and controls the hooks in torch. This header
// includes no header of torch, because the session is compiled without them.
#ifndef TRACKER_TORCH_HOOKS_H_
#define TRACKER_TORCH_HOOKS_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

// The hooks that can record operators.
enum class OperatorHook {
  kRanges,    // RecordFunction: every range that torch's own profiler would show
  kDispatch,  // a fallback of torch's dispatcher: the operators that a TorchDispatchMode sees
};

// Prepares the hook `asked` and returns `asked`. If torch cannot install this hook, writes the cause into `problem`,
// which has `size` bytes, and returns kRanges. Call it before each recording, on the thread that starts the recording,
// while recording is off.
OperatorHook PrepareOperatorHook(OperatorHook asked, char* problem, std::size_t size);

// Installs every hook for this version of torch: ranges, operators, allocators. Call it at the start of each
// recording, on the thread that starts the recording, while recording is off. `operators`: the result of
// PrepareOperatorHook. The hooks stay until the process ends, and do nothing while recording is off. `publishes`:
// whether the blocks of torch's CUDA allocator are published to a tool, such as compute-sanitizer
// (memory_publication.h).
void InstallTorchHooks(OperatorHook operators, bool publishes);

// Attaches the hooks to torch's CUDA allocators. Call it when torch has made the allocators, on any thread that holds
// no lock of torch. If the allocators do not report their blocks, they are recorded at device level
// (device_level_hook.h), and CudaIsReady returns one line with the reason. Otherwise it returns nullptr.
const char* CudaIsReady();
// Returns true if the allocators are recorded at device level.
bool CudaIsAtDeviceLevel();

// Each of the next two functions returns one line of text, or nullptr. Call them on one thread at a time.
// TakePublicationProblem returns the reason why blocks are not published. It returns each reason once; nullptr if there
// is no new reason. TakeUnpublished returns a line with the number of blocks that could not be published since its last
// call; nullptr if all blocks were published.
const char* TakePublicationProblem();
const char* TakeUnpublished();

// A time span of this recording in which Memoir could not follow torch's CUDA allocator, so the memory of CUDA devices
// is unknown.
struct CudaGap {
  const char* why;  // one line; never freed
  std::uint64_t begin_tick;
  std::uint64_t end_tick;  // 0: the gap is open
};
inline constexpr std::size_t kMostCudaGaps = 8;
// Copies the gaps into `found`, oldest first, and returns their number. Any thread. If another thread changes a gap
// during the copy, the copy may mix old and new values. The result of CudaGapChanges then differs before and after the
// copy, and the caller copies again.
std::size_t CudaGaps(CudaGap (&found)[kMostCudaGaps]);
// Returns a number that grows each time the gaps change.
std::uint32_t CudaGapChanges();

// Call ForgetCudaBlocks before recording begins or resumes, and FindCudaBlocks after it. FindCudaBlocks records the
// live blocks of torch's CUDA allocators. From then on the hooks record every change, until ForgetCudaBlocks is called.
// FindCudaBlocks takes locks of torch.
void ForgetCudaBlocks();
void FindCudaBlocks();

// Adds the range hook to torch's list of callbacks, or removes it. Without the hook Memoir does not slow down
// operators, because torch then neither calls it nor prepares arguments for it. A range that is already open is not
// affected, because torch chooses the callbacks of a range when it begins. Any thread may pass true; only threads of
// the program may pass false. Takes a lock of torch. EnableRangeHook(true) may throw if memory runs out, and then
// changes nothing.
void EnableRangeHook(bool enabled);

// Each of these two functions requests a call on a thread of the program, at the thread's next range.
// FindCudaBlocksLater requests FindCudaBlocks(); RemoveRangeHookSoon requests EnableRangeHook(false). Memoir's own
// threads use them, because they must not call functions of torch that use thread-local variables. At a thread's first
// use of such a variable, the loader allocates memory, and it ends the program if there is no memory.
// RemoveRangeHookSoon does not allocate, and takes no lock.
void FindCudaBlocksLater();
void RemoveRangeHookSoon();

// Functions that are called when a user range begins and when it ends (record_function, optimizer steps, the profiler's
// steps). `range` is an address that belongs to the range alone while the range is open.
struct RangeWatcher {
  // Returns true if it has switched on the recording of ranges. The begin of this range is then recorded as well.
  bool (*begins)(const void* range, const char* name);
  void (*ends)(const void* range, const char* name);
};
// Calls the functions of `watcher` for every user range from now on, at every level of recording; nullptr stops the
// calls. Any thread may set a watcher, but only a thread of the program may pass nullptr. Do not call it while another
// thread starts or stops a recording.
void WatchUserRanges(const RangeWatcher* watcher);

// Begins a user range for the program. Memoir and all other observers of torch's ranges see this range. Returns a
// handle for EndUserRange; nullptr if there is no observer. Call EndUserRange on the thread where the range began,
// before the ranges around it end.
void* BeginUserRange(const char* name);
void EndUserRange(void* range);

// Returns true if the calling thread runs an autograd node or one of torch's compilers. If these call a module, the
// call is not a call by the program.
bool InBackwardOrCompiler();

// Returns the version of torch for which this library was compiled, such as "2.11.0". The running torch has the same
// minor version.
const char* CompiledTorchVersion();

}  // namespace memoir

#endif  // TRACKER_TORCH_HOOKS_H_
