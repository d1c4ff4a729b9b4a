// Allocations of a driver, recorded by wrappers in slots and from look-ups.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "tests/interpose/cuda/driver_events.h"

namespace memoir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kOutOfMemory = 2;

TEST_F(DriverWatch, TheOutermostOfNestedCallsCountsWithTheLibraryThatMadeIt) {
  void* pointer = nullptr;
  errno = 0;
  ASSERT_EQ(AllocateOne(37 * kMiB, &pointer), 0);
  EXPECT_EQ(errno, EDOM) << "the driver's own";
  ASSERT_EQ(FreeOne(pointer), 0);
  const auto events = Events();
  ASSERT_THAT(events, ElementsAre(Gave(DriverCall::kMalloc, 37 * kMiB, "libcuda_caller.so"),
                                  Read(ReadingCause::kStart, kTotal - 37 * kMiB), GotBack(Address(pointer))));
  EXPECT_EQ(events[0].address, Address(pointer));
  EXPECT_LT(events[0].serial, events[2].serial);
}

TEST_F(DriverWatch, ANewMaximumIsReadAndSmallGrowthIsNot) {
  void *first = nullptr, *second = nullptr, *third = nullptr;
  ASSERT_EQ(AllocateOne(8 * kMiB, &first), 0);
  ASSERT_EQ(AllocateOne(2 * kMiB, &second), 0);
  ASSERT_EQ(AllocateOne(kMiB / 2, &third), 0);
  EXPECT_THAT(Events(), ElementsAre(Gave(DriverCall::kMalloc, 8 * kMiB, "libcuda_caller.so"),
                                    Read(ReadingCause::kStart, kTotal - 8 * kMiB),
                                    Gave(DriverCall::kMalloc, 2 * kMiB, "libcuda_caller.so"),
                                    Read(ReadingCause::kPeak, kTotal - 10 * kMiB),
                                    Gave(DriverCall::kMalloc, kMiB / 2, "libcuda_caller.so")));
  for (void* pointer : {first, second, third}) FreeOne(pointer);
}

TEST_F(DriverWatch, WhatIsRefusedIsRecordedAndWhatFailsOtherwiseIsNot) {
  void* pointer = nullptr;
  EXPECT_EQ(AllocateOne(2 * kTotal, &pointer), kOutOfMemory);
  EXPECT_EQ(FreeOne(&pointer), 1);
  EXPECT_THAT(Events(), ElementsAre(Read(ReadingCause::kStart, kTotal), Read(ReadingCause::kRefused, kTotal),
                                    Refused(DriverCall::kMalloc, 2 * kTotal, "libcuda_caller.so")));
}

TEST_F(DriverWatch, AFreeThatFailsLeavesTheBlock) {
  void* pointer = nullptr;
  ASSERT_EQ(AllocateOne(kMiB, &pointer), 0);
  Events();
  const auto free =
      reinterpret_cast<int (*)(std::uint64_t)>(dlsym(dlopen(MEMOIR_FAKE_DRIVER, RTLD_NOW), "cuMemFree_v2"));
  ASSERT_EQ(free(Address(pointer)), 0);  // past every wrapper
  EXPECT_EQ(FreeOne(pointer), 1);
  EXPECT_THAT(Events(), IsEmpty());
}

TEST_F(DriverWatch, AHandleThatIsRefusedIsNamedByTheLibraryThatRefused) {
  EXPECT_EQ(Get<int (*)()>("caller_handle")(), 3);
  const auto events = Events();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_THAT(events.back(), Refused(DriverCall::kHandle, 0u, "libcuda_caller.so"));
  EXPECT_EQ(events.back().address, 3u) << "the library's error";
}

TEST_F(DriverWatch, FoundByDlsym) {
  const auto allocate = reinterpret_cast<AllocateAt>(LookUp("cuMemAlloc_v2"));
  std::uint64_t address = 0;
  ASSERT_EQ(Get<int (*)(AllocateAt, std::uint64_t*, std::size_t)>("caller_call")(allocate, &address, kMiB), 0);
  EXPECT_THAT(Events(), ElementsAre(Gave(DriverCall::kMalloc, kMiB, "libcuda_caller.so"),
                                    Read(ReadingCause::kStart, kTotal - kMiB)));
  EXPECT_EQ(reinterpret_cast<void*>(allocate), LookUp("cuMemAlloc_v2")) << "one wrapper for one function";
  EXPECT_EQ(LookUp("cuCtxGetDevice"), dlsym(dlopen(MEMOIR_FAKE_DRIVER, RTLD_NOW), "cuCtxGetDevice"))
      << "what is not wrapped is what it is";
  EXPECT_EQ(LookUp("there_is_none"), nullptr);
  EXPECT_THAT(dlerror(), testing::HasSubstr("there_is_none"));
  ASSERT_EQ(reinterpret_cast<int (*)(std::uint64_t)>(LookUp("cuMemFree_v2"))(address), 0);
}

TEST_F(DriverWatch, FoundByGetProcAddress) {
  using GetProcAddress = int (*)(const char*, void**, int, std::uint64_t, int*);
  const auto look_up = reinterpret_cast<GetProcAddress>(LookUp("cuGetProcAddress_v2"));
  void* found = nullptr;
  int status = 0;
  ASSERT_EQ(look_up("cuMemAlloc", &found, 12000, 0, &status), 0);
  std::uint64_t address = 0;
  ASSERT_EQ(reinterpret_cast<AllocateAt>(found)(&address, kMiB), 0);
  EXPECT_THAT(Events(), ElementsAre(Gave(DriverCall::kMalloc, kMiB, "interpose_driver_watch_test"),
                                    Read(ReadingCause::kStart, kTotal - kMiB)));
  EXPECT_EQ(look_up("cuNothing", &found, 12000, 0, &status), 1);
  ASSERT_EQ(look_up("cuMemFree", &found, 12000, 0, &status), 0);
  ASSERT_EQ(reinterpret_cast<int (*)(std::uint64_t)>(found)(address), 0);
  EXPECT_THAT(Events(), ElementsAre(GotBack(address)));
}

// It gets the parameters of the requested CUDA version, all of them.
TEST_F(DriverWatch, FoundByGetProcAddressForItsVersion) {
  using GetProcAddress = int (*)(const char*, void**, int, std::uint64_t, int*);
  const auto look_up = reinterpret_cast<GetProcAddress>(LookUp("cuGetProcAddress_v2"));
  void *earlier = nullptr, *later = nullptr;
  int status = 0;
  ASSERT_EQ(look_up("cuCtxSynchronize", &earlier, 12090, 0, &status), 0);
  ASSERT_EQ(look_up("cuCtxSynchronize", &later, 13000, 0, &status), 0);
  EXPECT_TRUE(earlier == LookUp("cuCtxSynchronize") && later == LookUp("cuCtxSynchronize_v2")) << "both are wrapped";
  EXPECT_EQ(reinterpret_cast<int (*)()>(earlier)(), 5);
  EXPECT_EQ(reinterpret_cast<int (*)(void*)>(later)(reinterpret_cast<void*>(0x300)), 6);
  EXPECT_EQ(reinterpret_cast<int (*)(void*)>(later)(nullptr), 709);
}

// The result of RTLD_NEXT and RTLD_DEFAULT depends on dlsym's caller. It must be the same as without Memoir: the test's
// own slot, which is never redirected, has that result.
TEST_F(DriverWatch, WhatNextAndDefaultMeanStays) {
  const auto next = Get<Find>("caller_find_next"), first = Get<Find>("caller_find_default");
  void* own = dlsym(caller_, "caller_answer");
  void* found = next("caller_answer");
  ASSERT_NE(found, nullptr) << dlerror();
  EXPECT_NE(found, own);
  EXPECT_EQ(reinterpret_cast<int (*)()>(found)(), 2);
  EXPECT_EQ(first("caller_answer"), own) << "the library is visible to itself alone";
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "caller_answer"), nullptr);
  EXPECT_EQ(next("cuMemAlloc_v2"), dlsym(dlopen(MEMOIR_FAKE_DRIVER, RTLD_NOW), "cuMemAlloc_v2")) << "not wrapped";
}

TEST_F(DriverWatch, PhysicalMemoryLivesUntilReleasedAndUnmapped) {
  using Create = int (*)(std::uint64_t*, std::size_t, const int*, unsigned long long);
  using Map = int (*)(std::uint64_t, std::size_t, std::size_t, std::uint64_t, unsigned long long);
  const auto create = reinterpret_cast<Create>(LookUp("cuMemCreate"));
  const auto map = reinterpret_cast<Map>(LookUp("cuMemMap"));
  const auto release = reinterpret_cast<int (*)(std::uint64_t)>(LookUp("cuMemRelease"));
  const auto unmap = reinterpret_cast<int (*)(std::uint64_t, std::size_t)>(LookUp("cuMemUnmap"));
  const auto retain = reinterpret_cast<int (*)(std::uint64_t*, void*)>(LookUp("cuMemRetainAllocationHandle"));
  const int properties[] = {1, 0, 1, 3};
  constexpr std::uint64_t kAt = 0x500000000000;
  std::uint64_t handle = 0;
  ASSERT_EQ(create(&handle, 4 * kMiB, properties, 0), 0);
  ASSERT_EQ(map(kAt, 2 * kMiB, 0, handle, 0), 0);
  ASSERT_EQ(map(kAt + 2 * kMiB, 2 * kMiB, 2 * kMiB, handle, 0), 0);
  std::uint64_t again = 0;
  ASSERT_EQ(retain(&again, reinterpret_cast<void*>(kAt)), 0);
  ASSERT_EQ(release(again), 0);
  ASSERT_EQ(release(handle), 0);
  auto events = Events();
  ASSERT_EQ(events.size(), 2u) << "still mapped";
  EXPECT_THAT(events[0], Gave(DriverCall::kMemoryCreate, 4 * kMiB, "interpose_driver_watch_test"));
  EXPECT_EQ(events[0].address, 77u);
  // The handle's number is used again meanwhile.
  ASSERT_EQ(create(&handle, 2 * kMiB, properties, 0), 0);
  ASSERT_EQ(unmap(kAt, 4 * kMiB), 0);
  ASSERT_EQ(release(handle), 0);
  events = Events();
  ASSERT_EQ(events.size(), 4u);
  EXPECT_THAT(events[0], Gave(DriverCall::kMemoryCreate, 2 * kMiB, "interpose_driver_watch_test"));
  EXPECT_NE(events[0].address, 77u) << "a number of its own";
  EXPECT_THAT(events[1], Read(ReadingCause::kPeak, kTotal));
  EXPECT_THAT(events[2], GotBack(77u));
  EXPECT_THAT(events[3], GotBack(events[0].address));
}

TEST_F(DriverWatch, OffNothingIsRecordedAndTheBlockIsNotKnownLater) {
  void* pointer = nullptr;
  SetRecordingEnabled(false);
  ASSERT_EQ(AllocateOne(kMiB, &pointer), 0);
  SetRecordingEnabled(true);
  ASSERT_EQ(FreeOne(pointer), 0);
  EXPECT_THAT(Events(), IsEmpty());
}

TEST_F(DriverWatch, AForkedChildCallsAndRecordsNothing) {
  const pid_t child = fork();
  if (child == 0) {
    void* pointer = nullptr;
    const bool worked = AllocateOne(kMiB, &pointer) == 0 && FreeOne(pointer) == 0 && LookUp("cuMemFree_v2") != nullptr;
    _exit(worked ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(Events(), IsEmpty());
}

TEST_F(DriverWatch, ThreadsThatLookUpAndLoadMeanwhile) {
  const auto look_up = Get<void* (*)(void*, const char*)>("caller_find");
  void* driver = dlopen(MEMOIR_FAKE_DRIVER, RTLD_NOW);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) {
        EXPECT_NE(look_up(driver, "cuMemAlloc_v2"), nullptr);
        if (i == 0) WrapNewObjects();
        if (i == 1) dlclose(dlopen(MEMOIR_LATE_LIBRARY, RTLD_NOW | RTLD_LOCAL));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  void* pointer = nullptr;
  ASSERT_EQ(AllocateOne(kMiB, &pointer), 0);
  EXPECT_THAT(Events(), testing::Contains(Gave(DriverCall::kMalloc, kMiB, "libcuda_caller.so")));
  FreeOne(pointer);
}

}  // namespace
}  // namespace memoir
