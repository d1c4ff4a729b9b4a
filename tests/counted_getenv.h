// In place of libc's getenv: counts how often the environment was looked at. Included by one source of a test program.
#ifndef TESTS_COUNTED_GETENV_H_
#define TESTS_COUNTED_GETENV_H_

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>

std::atomic<int> looks{0};

extern "C" char* getenv(const char* name) noexcept {
  ++looks;
  const std::size_t length = std::strlen(name);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return *entry + length + 1;
  }
  return nullptr;
}

#endif  // TESTS_COUNTED_GETENV_H_
