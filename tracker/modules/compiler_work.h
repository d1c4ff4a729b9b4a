// Records the work of torch.compile itself as ranges of the thread that compiles, such as "torch.compile:
// entire_frame_compile". With these ranges, readers distinguish the compiler's work from the model's work.
//
// The Python package receives the events from the event logger of torch's compilers. Implemented in tracker/torch,
// which records ranges. Call these functions on the compiling thread; they record nothing while ranges are not
// recorded.
#ifndef TRACKER_MODULES_COMPILER_WORK_H_
#define TRACKER_MODULES_COMPILER_WORK_H_

#include <cstdint>

namespace memoir {

// This thread is now inside of `depth` nested events of the compilers. `begun`: the name of the innermost of them if it
// has just begun; nullptr if an event has ended.
void FollowCompiler(std::uint32_t depth, const char* begun);

// Records a compilation as a range whose name is `text`. The range has no length and lies inside of the compiler's
// work.
void NoteCompiled(const char* text);

// Returns true while this thread does work of torch's compilers. Module calls then do not belong to the program,
// because they run on fake tensors, which have no data.
bool InCompiler();

}  // namespace memoir

#endif  // TRACKER_MODULES_COMPILER_WORK_H_
