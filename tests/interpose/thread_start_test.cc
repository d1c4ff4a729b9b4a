#include "interpose/imports/thread_start.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <thread>

#include "interpose/imports/import_slots.h"

namespace memoir {
namespace {

thread_local int prepared = 0;
std::atomic<int> prepared_threads{0};

void Prepare() {
  prepared = 1;
  ++prepared_threads;
}
void PrepareOtherwise() { prepared = 2; }

int PreparedInNewThread() {
  int seen = -1;
  std::thread([&] { seen = prepared; }).join();  // libstdc++ calls pthread_create
  return seen;
}

TEST(ThreadStartTest, RunsOnEachNewThreadBeforeItsBody) {
  EXPECT_EQ(PreparedInNewThread(), 0);
  ASSERT_TRUE(RunAtThreadStart(&Prepare));
  EXPECT_EQ(PreparedInNewThread(), 1);
  EXPECT_EQ(PreparedInNewThread(), 1);
  EXPECT_EQ(prepared_threads, 2);
  EXPECT_EQ(prepared, 0) << "this thread was there before";
  ASSERT_TRUE(RunAtThreadStart(&PrepareOtherwise));
  EXPECT_EQ(PreparedInNewThread(), 2);
}

TEST(ThreadStartTest, ObjectsThatAreLoadedLaterAreSeenTo) {
  RunAtThreadStart(&Prepare);
  void* library = dlopen(MEMOIR_THREADER, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  using RunThread = int (*)(int (*)());
  const auto run = reinterpret_cast<RunThread>(dlsym(library, "slots_run_thread"));
  const auto prepared_there = [] { return prepared; };
  EXPECT_EQ(run(prepared_there), 0);
  RunAtThreadStartOfLateObjects();
  EXPECT_EQ(run(prepared_there), 1);
}

TEST(ImportSlotsTest, AnothersRedirectionIsLeftAlone) {
  RunAtThreadStart(&Prepare);
  // The slots hold our own replacement now: neither the original nor a lazy stub of their object.
  EXPECT_EQ(RedirectImports("pthread_create", reinterpret_cast<const void*>(&pthread_create),
                            reinterpret_cast<void*>(&Prepare)),
            0u);
}

TEST(ImportSlotsTest, FunctionsThatNobodyImports) {
  EXPECT_EQ(RedirectImports("memoir_no_such_function", nullptr, reinterpret_cast<void*>(&Prepare)), 0u);
}

}  // namespace
}  // namespace memoir
