// A program with much static thread-local storage, which is taken from the stack of each thread.
#include "interpose/system/own_thread.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>

namespace memoir {
namespace {

constexpr std::size_t kStorageBytes = 600 * 1024;
constexpr std::size_t kStackBytes = 512 * 1024;
constexpr std::size_t kFrames = 16 * 1024;  // of the test's own functions
thread_local char storage[kStorageBytes];

struct Seen {
  bool all_signals_blocked = false;
  char last_of_stack = 0;
  char last_of_storage = 0;
};

__attribute__((noinline)) char UseStack(std::size_t bytes) {
  auto* stack = static_cast<volatile char*>(__builtin_alloca(bytes));
  for (std::size_t at = 0; at < bytes; at += 1024) stack[at] = 1;
  return stack[0];
}

void* Use(void* argument) {
  auto& seen = *static_cast<Seen*>(argument);
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  seen.all_signals_blocked = sigismember(&blocked, SIGTERM) == 1 && sigismember(&blocked, SIGPROF) == 1;
  std::memset(storage, 1, sizeof storage);
  seen.last_of_stack = UseStack(kStackBytes - kFrames);
  seen.last_of_storage = storage[kStorageBytes - 1];
  return nullptr;
}

TEST(OwnThreadTest, HasItsStackBesideThreadLocalStorage) {
  EXPECT_GE(ReservedStackBytes(), kStorageBytes);
  EXPECT_LT(ReservedStackBytes(), 2 * kStorageBytes);
  Seen seen;
  pthread_t thread;
  ASSERT_EQ(StartOwnThread({.body = &Use, .argument = &seen, .stack_bytes = kStackBytes}, &thread), 0);
  pthread_join(thread, nullptr);
  EXPECT_EQ(seen.last_of_stack, 1);
  EXPECT_EQ(seen.last_of_storage, 1);
  EXPECT_TRUE(seen.all_signals_blocked);
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGTERM), 0) << "the caller's are as they were";
}

}  // namespace
}  // namespace memoir
