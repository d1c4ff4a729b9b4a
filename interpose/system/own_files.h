// Runs work on the files thread, on which Memoir opens, writes and closes its files. This thread has a separate table
// of descriptors. So the program cannot close Memoir's files or reuse their numbers, and Memoir cannot close the
// program's files.
//
//     any thread ── RunInOwnFiles(work) ──► thread "memoir-files": open, write, close ──► the caller continues
//     inside `work` ── RunInProgramsFiles(print) ──► the waiting caller: writes to the program's standard error
//
// A descriptor that `work` opens is valid only inside RunInOwnFiles. If the system refuses a separate table, the files
// thread uses the program's table (FilesWay::kShared, docs/decisions/0030-descriptors.md).
//
// libc only. Any thread, if it holds no lock that the work needs; not in a signal handler. errno is kept.
#ifndef INTERPOSE_SYSTEM_OWN_FILES_H_
#define INTERPOSE_SYSTEM_OWN_FILES_H_

#include <cstdint>

#include "interpose/system/export.h"

namespace memoir {

// How the files thread got its table of descriptors.
enum class FilesWay : std::uint8_t {
  kShared,      // refused; the thread uses the program's table
  kCloseRange,  // close_range with CLOSE_RANGE_UNSHARE: Linux 5.9
  kUnshare,     // unshare(CLONE_FILES), then every copied descriptor was closed
};

// Starts the files thread, and keeps the thread and its open files until the matching LeaveOwnFiles. Calls nest.
// Without KeepOwnFiles, each RunInOwnFiles starts a files thread and ends it. A forked child does not have its parent's
// files thread; its own calls start another one.
MEMOIR_INTERPOSE_API void KeepOwnFiles();
MEMOIR_INTERPOSE_API void LeaveOwnFiles();

// Calls work(argument) on the files thread and waits until `work` returns. Calls `work` on the calling thread if the
// caller is the files thread, or if no thread can be started. Runs the work of one caller at a time; other callers
// wait. `work` must not throw.
MEMOIR_INTERPOSE_API void RunInOwnFiles(void (*work)(void*), void* argument);
// Like RunInOwnFiles, for use while the program ends. The work of another caller may hang in a write if a file system
// does not respond. So this function waits at most `max_wait_ns` nanoseconds for the work of other callers. Returns
// false if it has not called `work`.
MEMOIR_INTERPOSE_API bool RunInOwnFilesWithin(std::uint64_t max_wait_ns, void (*work)(void*), void* argument);
// If called on the files thread, runs `work` on the thread that waits in RunInOwnFiles, which has the program's
// descriptors. If called on any other thread, runs `work` directly.
MEMOIR_INTERPOSE_API void RunInProgramsFiles(void (*work)(void*), void* argument);

// Returns how the calling thread got its table of descriptors. kShared on every thread of the program.
MEMOIR_INTERPOSE_API FilesWay WayOfFiles();

// RunInOwnFiles, RunInOwnFilesWithin and RunInProgramsFiles for a lambda.
template <class Work>
void InOwnFiles(const Work& work) {
  RunInOwnFiles([](void* given) { (*static_cast<const Work*>(given))(); }, const_cast<Work*>(&work));
}
template <class Work>
bool InOwnFilesWithin(std::uint64_t max_wait_ns, const Work& work) {
  const auto call = [](void* given) { (*static_cast<const Work*>(given))(); };
  return RunInOwnFilesWithin(max_wait_ns, call, const_cast<Work*>(&work));
}
template <class Work>
void InProgramsFiles(const Work& work) {
  RunInProgramsFiles([](void* given) { (*static_cast<const Work*>(given))(); }, const_cast<Work*>(&work));
}

}  // namespace memoir

#endif  // INTERPOSE_SYSTEM_OWN_FILES_H_
