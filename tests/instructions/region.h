// Marks for count_instructions.cc: a program that it runs marks the instructions to count. Only for programs that
// count_instructions starts: without it the first mark ends the process. Only the main thread may mark.
#ifndef TESTS_INSTRUCTIONS_REGION_H_
#define TESTS_INSTRUCTIONS_REGION_H_

#include <pthread.h>
#include <signal.h>

namespace memoir::test {

inline constexpr int kRegionBegins = SIGUSR1;
inline constexpr int kRegionEnds = SIGUSR2;

inline void Mark(int signal, const char* name) {
  pthread_sigqueue(pthread_self(), signal, {.sival_ptr = const_cast<char*>(name)});
}

// Counts what `call` does, `times` times; `name` lives until the end.
template <typename Call>
void CountRegion(const char* name, int times, Call call) {
  Mark(kRegionBegins, name);
  for (int i = 0; i < times; ++i) call();
  Mark(kRegionEnds, name);
}

}  // namespace memoir::test

#endif  // TESTS_INSTRUCTIONS_REGION_H_
