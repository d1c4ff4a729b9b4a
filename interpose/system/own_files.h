// The thread on which Memoir opens its files. It has a separate table of descriptors. So the program cannot close
// Memoir's files or reuse their numbers, and Memoir cannot do so with the program's files.
//
//     any thread ── RunInOwnFiles(work) ──► thread "memoir-files": open, write, close ──► the caller goes on
//     in that work ── RunInProgramsFiles(line) ──► the caller, which waits: writes to the program's standard error
//
// A descriptor that is opened in `work` is valid only in such work. If the system refuses a separate table
// (FilesWay::kShared), the work uses the program's table: docs/decisions/0030-descriptors.md.
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

// Starts the files thread, and keeps it and its open files until the matching LeaveOwnFiles. Calls nest. Without
// KeepOwnFiles, each RunInOwnFiles starts a thread and ends it. A forked child starts another thread.
MEMOIR_INTERPOSE_API void KeepOwnFiles();
MEMOIR_INTERPOSE_API void LeaveOwnFiles();

// Calls work(argument) on the files thread and waits until `work` returns. Calls `work` on the calling thread if the
// caller is the files thread, or if no thread can be started. One caller at a time; others wait. `work` must not throw.
MEMOIR_INTERPOSE_API void RunInOwnFiles(void (*work)(void*), void* argument);
// The same for a program that ends: the files thread may hang in a write, if a file system does not respond. Waits at
// most `max_wait_ns` for other callers' work. False: `work` was not called.
MEMOIR_INTERPOSE_API bool RunInOwnFilesWithin(std::uint64_t max_wait_ns, void (*work)(void*), void* argument);
// On the files thread, calls `work` on the thread that waits in RunInOwnFiles, with the program's descriptors.
// Elsewhere, calls `work` directly.
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
