// Kernels and variables: registered by any thread before main, found by what stands for them in host code.
#include "simcuda/kernels/kernels.h"

#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "simcuda/machine/machine.h"

namespace memoir::simcuda {
namespace {

std::uint64_t Launches(const std::string& name) {
  std::uint64_t sum = 0;
  for (const auto& [launches, kernel] : LaunchedKernels()) sum += kernel == name ? launches : 0;
  return sum;
}

TEST(Kernels, AreCountedFromManyThreads) {
  static const char hosts[4] = {};
  static const char* const names[4] = {"_Z1av", "_Z1bv", "_Z1cv", "_Z1dv"};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      RegisterKernel(&hosts[i], names[i]);
      for (int launch = 0; launch < 1000; ++launch) CountLaunch(FindKernel(&hosts[i]));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const char* name : names) EXPECT_EQ(Launches(name), 1000u);
  EXPECT_GE(LaunchesInAll(), 4000u);
}

TEST(Kernels, OneThatNobodyRegisteredIsCountedAsUnknown) {
  const char host = 0;
  const std::uint64_t before = Launches("(unknown)");
  CountLaunch(FindKernel(&host));
  EXPECT_EQ(Launches("(unknown)"), before + 1);
}

TEST(Kernels, EachOfAModuleIsItsOwn) {
  Kernel &first = NewKernel("triton_poi_fused", std::nullopt), &second = NewKernel("triton_poi_fused", std::nullopt);
  EXPECT_NE(&first, &second);
  CountLaunch(first);
  CountLaunch(second);
  EXPECT_EQ(Launches("triton_poi_fused"), 2u);
}

TEST(Variables, LieInTheirDevicesMemory) {
  static const char host = 0;
  EXPECT_EQ(VariableAddress(&host, 0), 0u);
  EXPECT_EQ(VariableBytes(&host), 0u);
  RegisterVariable(&host, 100);
  EXPECT_EQ(VariableBytes(&host), 100u);
  const std::uint64_t address = VariableAddress(&host, 0);
  EXPECT_TRUE(TheMachine().device(0).Contains(address));
  EXPECT_EQ(VariableAddress(&host, 0), address);
}

}  // namespace
}  // namespace memoir::simcuda
