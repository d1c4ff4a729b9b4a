// Libraries that come and go under a recording, and several of one name: calls lead where they would without Memoir.
#include <sys/wait.h>
#include <unistd.h>

#include "tests/interpose/cuda/driver_events.h"

namespace memoir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kOfOther = 0x40000, kOfVersioned = 0x41000, kOfOwn = 0x42000;  // as they are built

class DriverLoading : public DriverWatch {
 protected:
  // Its slots are lazy.
  static void* LoadLazily(const char* library) {
    void* loaded = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    EXPECT_NE(loaded, nullptr) << dlerror();
    return loaded;
  }
  static std::uint64_t OtherAllocates(void* library) {
    return Address(reinterpret_cast<void* (*)(std::size_t)>(dlsym(library, "other_allocate"))(kMiB));
  }
};

// cudaMalloc has two definitions, and only the loader knows which is for this caller. Its first call goes there; from
// the next look on its calls are recorded.
TEST_F(DriverLoading, OfTwoRuntimesALazyCallerGetsItsOwn) {
  void* other = LoadLazily(MEMOIR_OTHER_CALLER);
  WrapNewObjects();
  EXPECT_EQ(OtherAllocates(other), kOfOther);
  EXPECT_THAT(Events(), IsEmpty());
  WrapNewObjects();
  EXPECT_EQ(OtherAllocates(other), kOfOther);
  EXPECT_THAT(Events(), testing::Contains(Gave(DriverCall::kMalloc, kMiB, "libother_caller.so")));
  void* pointer = nullptr;
  ASSERT_EQ(AllocateOne(kMiB, &pointer), 0) << "the first runtime's caller keeps its own";
  FreeOne(pointer);
  dlclose(other);
}

// Only one of them has the version that the caller asks for: nothing is left to the loader.
TEST_F(DriverLoading, ALazyCallerGetsTheVersionThatItAsksFor) {
  void* other = LoadLazily(MEMOIR_VERSIONED_CALLER);
  WrapNewObjects();
  EXPECT_EQ(OtherAllocates(other), kOfVersioned);
  EXPECT_THAT(Events(), testing::Contains(Gave(DriverCall::kMalloc, kMiB, "libversioned_caller.so")));
  dlclose(other);
}

TEST_F(DriverLoading, ALibraryThatHasARuntimeInItKeepsThat) {
  void* own = dlopen(MEMOIR_OWN_CALLER, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(own, nullptr) << dlerror();
  WrapNewObjects();
  EXPECT_EQ(OtherAllocates(own), kOfOwn);
  EXPECT_THAT(Events(), testing::Contains(Gave(DriverCall::kMalloc, kMiB, "libown_caller.so")));
  dlclose(own);
}

// A weak import that no library defines: the program tests it for null.
TEST_F(DriverLoading, AFunctionThatIsNotThereStaysAbsent) {
  void* other = LoadLazily(MEMOIR_OTHER_CALLER);
  const auto can_free = reinterpret_cast<int (*)()>(dlsym(other, "other_can_free"));
  const int before = can_free();
  WrapNewObjects();
  EXPECT_EQ(before, 0);
  EXPECT_EQ(can_free(), 0);
  dlclose(other);
}

// In a separate process, in which nothing else was loaded before.
void CallAfterAProbe(bool look_meanwhile) {
  const TempFolder folder;
  void* probe = dlopen(MEMOIR_PROBE, RTLD_NOW | RTLD_LOCAL);
  void* caller = dlopen(MEMOIR_CUDA_CALLER, RTLD_NOW | RTLD_LOCAL);
  if (probe == nullptr || caller == nullptr || !OpenRingIn(folder.path(), kMinRingBytes).empty()) _exit(2);
  WatchDriver();  // finds the probe's functions first
  SetRecordingEnabled(true);
  dlclose(probe);
  if (dlopen(MEMOIR_PROBE, RTLD_NOW | RTLD_NOLOAD) != nullptr) _exit(3);
  if (look_meanwhile) WrapNewObjects();
  void* pointer = nullptr;
  const auto allocate = reinterpret_cast<Allocate>(dlsym(caller, "caller_allocate"));
  _exit(allocate(&pointer, kMiB) == 0 && pointer != nullptr ? 0 : 1);
}

// A driver that was opened and closed is not called any more, before a scan and after one.
TEST(DriverUnloading, AProbeOfTheDriverLeavesNothingToCall) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(CallAfterAProbe(false), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(CallAfterAProbe(true), testing::ExitedWithCode(0), "");
}

// Functions are what they are once the recording is over, and in a child that does not record.
TEST_F(DriverLoading, LookUpsArePassedOnBetweenRecordings) {
  void* driver = dlopen(MEMOIR_FAKE_DRIVER, RTLD_NOW);
  void* real = dlsym(driver, "cuMemAlloc_v2");
  using GetProcAddress = int (*)(const char*, void**, int, std::uint64_t, int*);
  const auto look_up = reinterpret_cast<GetProcAddress>(LookUp("cuGetProcAddress_v2"));
  const auto is_wrapped = [&] {
    void* found = nullptr;
    int status = 0;
    EXPECT_EQ(look_up("cuMemAlloc", &found, 12000, 0, &status), 0);
    EXPECT_EQ(LookUp("cuMemAlloc_v2"), found);
    return found != real;
  };
  EXPECT_TRUE(is_wrapped());
  const pid_t child = fork();
  if (child == 0) _exit(is_wrapped() ? 1 : 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "a child does not record";
  StopWatchingDriver();
  EXPECT_FALSE(is_wrapped());
  WatchDriver();
  EXPECT_TRUE(is_wrapped());
}

}  // namespace
}  // namespace memoir
