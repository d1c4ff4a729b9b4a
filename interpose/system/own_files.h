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
// This code needs no library except libc. Its functions may be called on any thread that holds no lock that the work
// needs, but not in a signal handler. They do not change errno.
#ifndef INTERPOSE_SYSTEM_OWN_FILES_H_
#define INTERPOSE_SYSTEM_OWN_FILES_H_

#include <cstdint>

#include "interpose/system/export.h"

namespace memoir {

// How the files thread got its table of descriptors.
enum class FilesWay : std::uint8_t {
  kShared,      // the system refused a separate table; the thread uses the program's table
  kCloseRange,  // the thread called close_range with CLOSE_RANGE_UNSHARE (Linux 5.9 and later)
  kUnshare,     // the thread called unshare(CLONE_FILES), and then closed every copied descriptor
};

// Starts the files thread, and keeps the thread and its open files until the matching ReleaseOwnFiles. Calls nest.
// Without KeepOwnFiles, each RunInOwnFiles starts a files thread and ends it. A forked child does not have its parent's
// files thread; its own calls start another one.
MEMOIR_INTERPOSE_API void KeepOwnFiles();
// Undoes one call of KeepOwnFiles. Ends the files thread when all calls of KeepOwnFiles are undone.
MEMOIR_INTERPOSE_API void ReleaseOwnFiles();

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

// If called on the files thread, returns how this thread got its table of descriptors. kShared on every other thread.
MEMOIR_INTERPOSE_API FilesWay OwnFilesMode();

// The following functions call RunInOwnFiles, RunInOwnFilesWithin and RunInProgramsFiles with a lambda as the work.
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
