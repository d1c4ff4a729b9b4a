// Launches, copies and graphs as records of the ring, and the names of kernels.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <set>
#include <string>
#include <vector>

#include "interpose/cuda/driver_watch.h"
#include "interpose/cuda/kernel_names.h"
#include "interpose/cuda/wrapped_calls.h"
#include "tests/interpose/numbered_records.h"

namespace memoir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

void* const kStream = reinterpret_cast<void*>(0x5000);

class DeviceCalls : public RingTest {
 protected:
  void Start(bool launches) {
    Open(kMinRingBytes);
    WatchDriver(launches);
    caller_ = dlopen(MEMOIR_WORK_CALLER, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(caller_, nullptr) << dlerror();
    WrapNewObjects();  // as the writer's thread does
  }
  template <class... A>
  int Call(const char* name, A... arguments) {
    return reinterpret_cast<int (*)(A...)>(dlsym(caller_, name))(arguments...);
  }
  int Launch(std::size_t kernel, unsigned blocks = 1, void* stream = nullptr) {
    return Call("work_launch", kernel, blocks, stream);
  }
  std::string NameOf(std::uint32_t id) {
    NameView view{};
    return id != 0 && reader_->FindName(id, &view) ? std::string(view.text, view.text_bytes) : "?";
  }
  template <class Record>
  std::vector<Record> Records(RecordKind kind) {
    std::vector<Record> found;
    std::vector<RingExtentView> views(64);
    const std::size_t count = reader_->Scan(views.data(), views.size());
    for (std::size_t i = 0; i < count; ++i) {
      for (const std::uint8_t* at = views[i].begin; at < views[i].end;) {
        RecordHeader header;
        std::memcpy(&header, at, sizeof header);
        if (header.kind == kind) std::memcpy(&found.emplace_back(), at, sizeof(Record));
        at += std::size_t{header.words} * 8;
      }
    }
    return found;
  }
  std::vector<KernelLaunchRecord> Launches() { return Records<KernelLaunchRecord>(RecordKind::kKernelLaunch); }
  std::vector<DeviceCallRecord> Others() { return Records<DeviceCallRecord>(RecordKind::kDeviceCall); }

  void* caller_ = nullptr;
};

TEST_F(DeviceCalls, ALaunchIsRecordedOnceWithItsNameAndPlace) {
  Start(true);
  ASSERT_EQ(Launch(0x1234, 7, kStream), 0);
  const auto launches = Launches();
  ASSERT_EQ(launches.size(), 1u) << "the driver's call inside is not another one";
  const KernelLaunchRecord& launch = launches[0];
  EXPECT_EQ(launch.header.flags, static_cast<std::uint8_t>(DeviceCallKind::kLaunchKernel));
  EXPECT_EQ(NameOf(launch.kernel), "kernel_4660");
  EXPECT_THAT(launch.grid, ElementsAre(7u, 2u, 3u));
  EXPECT_THAT(launch.block, ElementsAre(4u, 5u, 6u));
  EXPECT_EQ(launch.stream, reinterpret_cast<std::uintptr_t>(kStream));
  EXPECT_EQ(launch.device_index, 1) << "the device of the thread's context";
  EXPECT_EQ(launch.result, 0);
}

TEST_F(DeviceCalls, WhatFailsOrWasNeverRegisteredHasNoName) {
  Start(true);
  EXPECT_EQ(Launch(0x1234, 0), 9);
  EXPECT_EQ(Launch(0x1235), 0);
  const auto launches = Launches();
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].kernel, 0u);
  EXPECT_EQ(launches[0].result, 9);
  EXPECT_EQ(launches[1].kernel, 0u);
  EXPECT_EQ(launches[1].result, 0);
  EXPECT_EQ(CountUnnamedLaunches(), 1u);
}

TEST_F(DeviceCalls, LaunchesAreRecordedWhereAskedForAlone) {
  Start(false);
  EXPECT_EQ(Launch(0x1234), 0);
  EXPECT_THAT(Launches(), IsEmpty());
  EXPECT_EQ(Call("work_copy", std::size_t{64}, kStream), 0);
  EXPECT_EQ(Others().size(), 3u) << "copies and waits are recorded in any case";
  StopWatchingDriver();
  WatchDriver(true);  // of a library that was seen before
  EXPECT_EQ(Launch(0x1234), 0);
  EXPECT_EQ(Launches().size(), 1u);
  StopWatchingDriver();
  WatchDriver(false);
  EXPECT_EQ(Launch(0x1234), 0);
  EXPECT_EQ(Launches().size(), 1u) << "a wrapper that stays records nothing";
}

TEST_F(DeviceCalls, NothingIsRecordedWhileRangesAreNot) {
  Start(true);
  SetRecordingLevel(RecordingLevel::kMemory);
  EXPECT_EQ(Launch(0x1234), 0);
  EXPECT_EQ(Call("work_copy", std::size_t{64}, kStream), 0);
  EXPECT_THAT(Launches(), IsEmpty());
  EXPECT_THAT(Others(), IsEmpty());
}

TEST_F(DeviceCalls, NamesAreBounded) {
  Start(true);
  constexpr std::size_t kMore = 100;
  for (int times = 0; times < 2; ++times) {
    for (std::size_t i = 1; i <= kMostKernelNames + kMore; ++i) ASSERT_EQ(Launch(2 * i), 0);
  }
  EXPECT_EQ(CountUnnamedLaunches(), 2 * kMore);
  ForgetKernels();  // as when code is unloaded: names that are there are found again
  EXPECT_EQ(Launch(2), 0);
  EXPECT_EQ(CountUnnamedLaunches(), 2 * kMore);
  const auto launches = Launches();
  ASSERT_FALSE(launches.empty());
  EXPECT_EQ(NameOf(launches.back().kernel), "kernel_2");
}

TEST_F(DeviceCalls, CopiesHaveBytesAndKind) {
  Start(false);
  EXPECT_EQ(Call("work_copy", std::size_t{48}, kStream), 0);
  const auto calls = Others();
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].header.flags, static_cast<std::uint8_t>(DeviceCallKind::kCopyAsync));
  EXPECT_EQ(calls[0].bytes, 48u);
  EXPECT_EQ(calls[0].copy_kind, 2u) << "host to device";
  EXPECT_EQ(calls[0].stream, reinterpret_cast<std::uintptr_t>(kStream));
  EXPECT_EQ(calls[1].header.flags, static_cast<std::uint8_t>(DeviceCallKind::kSetAsync));
  EXPECT_EQ(calls[1].copy_kind, 0u);
  EXPECT_EQ(calls[2].header.flags, static_cast<std::uint8_t>(DeviceCallKind::kStreamSynchronize));
  EXPECT_GE(calls[2].tick, calls[1].tick);
}

// Of two with the same name the second would never be called.
TEST(WrappedCalls, HaveEachNameOnce) {
  std::set<std::string> names;
  for (const auto calls : {MemoryCalls(), ContextCalls(), MappingCalls(), CodeCalls(), RefusableCalls(), WorkCalls(),
                           LaunchCalls(), LookUpCalls()}) {
    for (const WrappedCall& call : calls) EXPECT_TRUE(names.insert(call.name).second) << call.name;
  }
  EXPECT_GT(names.size(), 100u);
}

TEST_F(DeviceCalls, AGraphIsKnownFromItsCaptureToItsReplays) {
  Start(false);
  EXPECT_EQ(Call("work_graph", kStream, 2), 0);
  std::vector<std::string> lines;
  for (const DeviceCallRecord& call : Others())
    lines.push_back(std::to_string(call.header.flags) + " " + std::to_string(call.graph) + " " +
                    std::to_string(call.graph_exec));
  EXPECT_THAT(lines, ElementsAre("14 0 0", "15 256 0", "16 256 512", "17 0 512", "17 0 512"));
}

}  // namespace
}  // namespace memoir
