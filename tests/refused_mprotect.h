// In place of libc's mprotect: refuses while told to. Included by one source of a test program.
#ifndef TESTS_REFUSED_MPROTECT_H_
#define TESTS_REFUSED_MPROTECT_H_

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

bool refuse_mprotect = false;

extern "C" int mprotect(void* address, std::size_t bytes, int protection) {
  if (!refuse_mprotect) return static_cast<int>(syscall(SYS_mprotect, address, bytes, protection));
  errno = EACCES;
  return -1;
}

#endif  // TESTS_REFUSED_MPROTECT_H_
