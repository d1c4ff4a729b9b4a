// NVML is read on a separate thread: for the process's device, never in a child of a process that read it, and without
// waiting if it does not answer.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/interpose/cuda/driver_events.h"

namespace memoir {
namespace {

using testing::Contains;

class DriverReadings : public DriverWatch {
 protected:
  void SetUp() override {
    management_ = dlopen(MEMOIR_FAKE_MANAGEMENT, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(management_, nullptr) << dlerror();
    SetSilent(false);
    ASSERT_NE(dlopen(MEMOIR_CUDA_CALLER, RTLD_NOW | RTLD_LOCAL), nullptr);  // NVML is looked for where there is CUDA
    DriverWatch::SetUp();
    ASSERT_EQ(AllocateOne(kMiB, &pointer_), 0);
  }
  void TearDown() override {
    FreeOne(pointer_);
    StopWatchingDriver();
    DriverWatch::TearDown();
  }
  void SetSilent(bool silent) {
    reinterpret_cast<void (*)(int)>(dlsym(management_, "fake_management_is_silent"))(silent ? 1 : 0);
  }
  // All events until there is one that `wanted` says; the test's own limit ends it.
  template <class Wanted>
  std::vector<Event> EventsUntil(Wanted wanted) {
    std::vector<Event> all;
    for (;;) {
      WrapNewObjects();
      for (const Event& event : Events()) all.push_back(event);
      if (std::any_of(all.begin(), all.end(), wanted)) return all;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  static bool IsRegular(const Event& event) {
    return event.kind == RecordKind::kDeviceReading && event.what == static_cast<int>(ReadingCause::kRegular);
  }

  void* management_ = nullptr;
  void* pointer_ = nullptr;
};

TEST_F(DriverReadings, OfAPartOfAGpuThePartIsRead) {
  EXPECT_THAT(EventsUntil(&IsRegular), Contains(Read(ReadingCause::kRegular, 900 * kMiB)));
}

TEST_F(DriverReadings, NobodyWaitsForAnNvmlThatDoesNotAnswer) {
  EventsUntil(&IsRegular);
  SetSilent(true);
  void* pointer = nullptr;
  ASSERT_EQ(AllocateOne(2 * kTotal, &pointer), 2);  // asks for a reading
  WrapNewObjects();
  WrapNewObjects();
  ReadDevicesLast();
  EXPECT_THAT(Events(), Contains(Read(ReadingCause::kLast, kTotal - kMiB)));
  SetSilent(false);
}

TEST_F(DriverReadings, AChildAsksNothingOfWhatItsParentHasBegun) {
  EventsUntil(&IsRegular);
  const pid_t child = fork();
  if (child == 0) {
    const TempFolder folder;
    if (!OpenRingIn(folder.path(), kMinRingBytes).empty()) _exit(2);
    WatchDriver();
    SetRecordingEnabled(true);
    void* pointer = nullptr;
    if (AllocateOne(kMiB, &pointer) != 0) _exit(3);
    WrapNewObjects();
    ReadDevicesLast();
    static_cast<void>(reader_.release());  // of the parent's ring
    reader_.reset(RingReader::OpenLive());
    const auto events = Events();
    _exit(testing::Value(events, Contains(Read(ReadingCause::kLast, kTotal - 2 * kMiB))) ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace memoir
