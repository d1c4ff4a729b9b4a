// Records the work of torch.compile itself as ranges of the thread that compiles, such as "torch.compile:
// entire_frame_compile". With these ranges, readers distinguish the compiler's work from the model's work.
//
// The Python package receives events from the event logger of torch's compilers, and calls these functions on the
// thread that compiles. tracker/torch implements the functions, because it records ranges. They record nothing while
// ranges are not recorded.
#ifndef TRACKER_MODULES_COMPILER_WORK_H_
#define TRACKER_MODULES_COMPILER_WORK_H_

#include <cstdint>

namespace memoir {

// Called when an event of the compilers begins or ends on this thread. `depth`: number of nested events that are open
// after that. `begun`: the name of the event that begins; nullptr if an event ends, or if an event begins during which
// the program itself runs.
void FollowCompiler(std::uint32_t depth, const char* begun);

// Records a compilation as a range whose name is `text`. The range has no length and lies inside of the compiler's
// work.
void NoteCompiled(const char* text);

// Returns true while this thread does work of torch's compilers. Module calls then do not belong to the program,
// because they run on fake tensors, which have no data.
bool InCompiler();

}  // namespace memoir

#endif  // TRACKER_MODULES_COMPILER_WORK_H_
