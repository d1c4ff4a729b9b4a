#include "tracker/session/process/terminal_line.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <initializer_list>

#include "interpose/system/own_files.h"

namespace memoir {

WriteSignalBlocker::WriteSignalBlocker() {
  sigset_t pending;
  sigemptyset(&held_);
  sigpending(&pending);
  for (const int signal : {SIGPIPE, SIGXFSZ}) {
    if (sigismember(&pending, signal) == 0) sigaddset(&held_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &held_, &before_);
}

WriteSignalBlocker::~WriteSignalBlocker() {
  const int error_number = errno;
  const timespec at_once{};
  while (sigtimedwait(&held_, nullptr, &at_once) > 0) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error_number;
}

// Uses only the stack, because the message may report that memory ran out.
void PrintLine(const char* format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  InProgramsFiles([&] {
    const WriteSignalBlocker held;
    std::fprintf(stderr, "memoir: %s\n", text);
  });
}

}  // namespace memoir
