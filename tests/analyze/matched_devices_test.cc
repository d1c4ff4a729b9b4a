#include "tools/analyze/compare/matched_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace memoir {
namespace {

using ::testing::ElementsAre;

// A device of the process; the process's number is its rank.
SideInputs Device(std::uint32_t process, const std::string& name) {
  SideInputs device;
  device.side.device.process = ProcessId(process);
  device.side.device.rank = process;
  device.side.device.name = name;
  device.side.device.caching = name.starts_with("cuda");
  return device;
}

// "cpu=cpu", "cuda:0=", "=cuda:1"
std::vector<std::string> Matched(const std::vector<SideInputs>& a, const std::vector<SideInputs>& b) {
  std::vector<std::string> matched;
  for (const DevicePair& pair : MatchDevices(a, b)) {
    const auto name = [](const SideInputs* side) { return side == nullptr ? "" : side->side.device.name; };
    matched.push_back(name(pair.a) + "=" + name(pair.b));
  }
  return matched;
}

TEST(MatchDevices, TheOnlyGpusOfTwoProcessesArePairedWhateverTheirNumbers) {
  EXPECT_THAT(Matched({Device(0, "cpu"), Device(0, "cuda:0")}, {Device(4, "cpu"), Device(4, "cuda:4")}),
              ElementsAre("cpu=cpu", "cuda:0=cuda:4"));
}

TEST(MatchDevices, NamesCountIfThereAreSeveralGpus) {
  EXPECT_THAT(Matched({Device(0, "cuda:0"), Device(0, "cuda:1")}, {Device(0, "cuda:1"), Device(0, "cuda:2")}),
              ElementsAre("cuda:0=cuda:2", "cuda:1=cuda:1"));
  EXPECT_THAT(Matched({Device(0, "cuda:0"), Device(0, "cuda:1")}, {Device(0, "cuda:2")}),
              ElementsAre("cuda:0=", "cuda:1=", "=cuda:2"));
}

TEST(MatchDevices, HostsAreNotPairedWithGpus) {
  EXPECT_THAT(Matched({Device(0, "cpu")}, {Device(0, "cuda:0")}), ElementsAre("cpu=", "=cuda:0"));
}

TEST(MatchDevices, InJobsTheRankCounts) {
  EXPECT_THAT(Matched({Device(0, "cuda:0"), Device(1, "cuda:1")}, {Device(0, "cuda:1"), Device(1, "cuda:1")}),
              ElementsAre("cuda:0=", "cuda:1=cuda:1", "=cuda:1"));
}

}  // namespace
}  // namespace memoir
