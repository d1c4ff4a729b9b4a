// Runs work that may throw on the files thread (InOwnFiles in interpose/system/own_files.h, which accepts only work
// that does not throw). Rethrows the exception on the calling thread.
#ifndef TRACKER_WRITER_THROWING_WORK_H_
#define TRACKER_WRITER_THROWING_WORK_H_

#include <cstdint>
#include <exception>
#include <new>

#include "interpose/system/own_files.h"
#include "tracker/writer/writer_thread.h"

namespace memoir {

// Calls `run` with a function that calls `work` and does not throw. Then rethrows the exception of `work`.
template <class Run, class Work>
void RunThrowing(const Run& run, const Work& work) {
  std::exception_ptr thrown;
  bool has_memory = true;
  run([&] {
    has_memory = HasMemoryToThrow();
    if (!has_memory) return;
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
  });
  if (!has_memory) throw std::bad_alloc();
  if (thrown != nullptr) std::rethrow_exception(thrown);
}

// Calls `work` on the files thread.
template <class Work>
void InOwnFilesThrowing(const Work& work) {
  RunThrowing([](const auto& safe_work) { InOwnFiles(safe_work); }, work);
}

// Like InOwnFilesThrowing, but returns false, and does not call `work`, if the files thread was busy for `max_wait_ns`.
template <class Work>
bool InOwnFilesThrowingWithin(std::uint64_t max_wait_ns, const Work& work) {
  bool was_called = false;
  RunThrowing([&](const auto& safe_work) { was_called = InOwnFilesWithin(max_wait_ns, safe_work); }, work);
  return was_called;
}

}  // namespace memoir

#endif  // TRACKER_WRITER_THROWING_WORK_H_
