#include "tracker/writer/writer_thread.h"

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "interpose/system/own_thread.h"

namespace memoir {
namespace {

constexpr std::size_t kStackBytes = 512 * 1024;

}  // namespace

int StartWriterThread(void* (*body)(void*), void* argument, pthread_t* thread) {
  return StartOwnThread({.body = body, .argument = argument, .stack_bytes = kStackBytes}, thread);
}

// pthread_create returns EAGAIN for too many threads, and also if there is no memory for a stack. So the remedy names
// both.
std::string ThreadStartError(int failed) {
  std::string what = std::string("cannot start the writer's thread: ") + std::strerror(failed);
  if (failed != EAGAIN && failed != ENOMEM) return what;
  return what + "; allow the program more threads (ulimit -u, the container's pids limit) or memory (ulimit -v)";
}

bool HasMemoryToThrow() {
  // volatile, because otherwise the compiler removes malloc and free.
  void* volatile probe = std::malloc(4096);
  if (probe == nullptr) return false;
  std::free(probe);
  [[maybe_unused]] const volatile int exceptions = std::uncaught_exceptions();
  return true;
}

}  // namespace memoir
