// torch.compile's own work, as ranges of the thread that does it: "torch.compile: entire_frame_compile" and others, by
// which it is told from the model's.
//
// The Python package hears of it from the event logger of torch's compilers. Implemented in tracker/torch, which
// records ranges. On the thread that works; nothing is recorded while ranges are not.
#ifndef TRACKER_MODULES_COMPILER_WORK_H_
#define TRACKER_MODULES_COMPILER_WORK_H_

#include <cstdint>

namespace memoir {

// `depth` events of the compilers are open on this thread now. `begun`: the name of the innermost, which has just
// begun; nullptr: others have ended.
void FollowCompiler(std::uint32_t depth, const char* begun);

// What was compiled, in words, as a range without length inside of the work.
void NoteCompiled(const char* text);

// Whether this thread is at such work. Calls of modules are none of the program's then: they run on fake tensors.
bool InCompiler();

}  // namespace memoir

#endif  // TRACKER_MODULES_COMPILER_WORK_H_
