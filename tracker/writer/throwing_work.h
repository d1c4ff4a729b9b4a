// Runs work that may throw inside of RunInOwnFiles (interpose/system/own_files.h), and rethrows its exception to the
// caller.
#ifndef TRACKER_WRITER_THROWING_WORK_H_
#define TRACKER_WRITER_THROWING_WORK_H_

#include <exception>
#include <new>

#include "interpose/system/own_files.h"
#include "tracker/writer/writer_thread.h"

namespace memoir {

template <class Work>
void InOwnFilesThrowing(const Work& work) {
  std::exception_ptr thrown;
  bool has_memory = true;
  InOwnFiles([&] {
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

}  // namespace memoir

#endif  // TRACKER_WRITER_THROWING_WORK_H_
