// Calls of CUDA in a replay: their columns, and what runs around them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tools/model/capture.h"
#include "tools/model/kernel_name.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::ProcessBuilder;
using testing::TemporaryFolder;

// "call what bytes kind graph exec ticks result in operator/leaf/user on device stream".
class CallLines : public Visitor {
 public:
  std::vector<std::string> lines;

  void OnStart(const ReplayState& state) override { state_ = &state; }
  void OnDeviceCall(const DeviceCallEvent& event) override {
    const Dictionary& names = state_->dictionary();
    std::string line(ToString(event.call));
    if (event.is_launch) {
      line += " " + std::string(event.kernel.valid() ? names.text(event.kernel) : "?") + " ";
      for (const std::uint32_t size : event.grid) line += std::to_string(size) + ",";
      for (const std::uint32_t size : event.block) line += std::to_string(size) + ",";
    } else {
      line += " " + std::to_string(event.bytes) + " " + std::string(ToString(event.copy_kind)) + " " +
              std::to_string(event.graph) + " " + std::to_string(event.graph_exec) + " " + std::to_string(event.ticks);
    }
    line += " -> " + std::to_string(event.result) + " in " + std::string(names.text(event.operator_name)) + "/" +
            std::string(names.text(event.leaf_name)) + "/" + std::string(names.text(event.user_name)) + " on " +
            ToString(names.device(event.device)) + " " + std::to_string(event.stream);
    lines.push_back(line);
  }

  void OnKernelRun(const KernelRunEvent& event) override {
    const Dictionary& names = state_->dictionary();
    lines.push_back(std::string(ToString(event.kind)) + " " + std::string(names.text(event.kernel)) + " " +
                    std::to_string(event.bytes) + " " + std::string(ToString(event.copy_kind)) + " of " +
                    std::to_string(event.correlation) + " on " + ToString(names.device(event.device)) + " stream " +
                    std::to_string(event.stream) + " at " + std::to_string(event.begin) + " for " +
                    std::to_string(event.ns));
  }

 private:
  const ReplayState* state_ = nullptr;
};

// For a capture without damage.
std::vector<std::string> LinesOf(const std::string& folder) {
  const absl::StatusOr<Capture> capture = Capture::Open(folder);
  EXPECT_TRUE(capture.ok()) << capture.status();
  if (!capture.ok()) return {};
  CallLines shown;
  const absl::StatusOr<ReplayReport> report = capture->Replay(shown);
  EXPECT_TRUE(report.ok()) << report.status();
  if (!report.ok()) return {};
  EXPECT_THAT(report->damage, IsEmpty());
  return shown.lines;
}

TEST(DeviceCalls, WhatRanHasItsTimesAndTheCorrelationOfItsCall) {
  const TemporaryFolder folder;
  ProcessBuilder process;
  const std::uint32_t gpu = process.AddDevice("cuda", 0), other = process.AddDevice("cuda", 1);
  process.AtTick(5000).RunOnDevice(gpu, {.kernel = "_Z4gemmv", .correlation = 70, .ns = 1234, .age = 600});
  process.AtTick(6000).RunOnDevice(other, {.kernel = "",
                                           .correlation = 3,
                                           .ns = 9,
                                           .kind = v1::RUN_OF_COPY,
                                           .bytes = 64,
                                           .copy = v1::DEVICE_TO_HOST,
                                           .stream = 8});
  process.AtTick(7000).RunOnDevice(gpu,
                                   {.kernel = "", .correlation = 4'000'000'000, .kind = v1::RUN_OF_FILL, .age = 9000});
  process.WriteTo(folder.path());
  EXPECT_THAT(LinesOf(folder.path()), ElementsAre("kernel _Z4gemmv 0  of 70 on cuda:0 stream 7 at 4400 for 1234",
                                                  "copy  64 device_to_host of 3 on cuda:1 stream 8 at 5800 for 9",
                                                  "fill  0  of 4000000000 on cuda:0 stream 7 at 0 for 100"));
}

TEST(DeviceCalls, HaveTheirColumnsAndWhatRunsAroundThem) {
  const TemporaryFolder folder;
  ProcessBuilder process;
  const std::uint32_t gpu = process.AddDevice("cuda", 0), other = process.AddDevice("cuda", 1);
  process.BeginUser("step").Begin("aten::linear").Begin("aten::addmm");
  process.LaunchKernel(gpu, {.kernel = "_Z4gemmv", .stream = 7, .grid = {1, 2, 3, 4, 5, 6}}).Allocate(0x1000, 64);
  process.CallDevice(other, {.stream = 9, .bytes = 100, .kind = v1::HOST_TO_DEVICE, .ticks = 30}).End().End().End();
  process.CallDevice(gpu, {.call = v1::GRAPH_INSTANTIATE, .graph = 0x10, .graph_exec = 0x20, .ticks = 1, .result = 2});
  process.OnThread(2).LaunchKernel(gpu, {.kernel = "", .call = v1::CU_LAUNCH_KERNEL_EX, .grid = {0, 0, 0, 0, 0, 0}});
  process.WriteTo(folder.path());
  EXPECT_THAT(LinesOf(folder.path()),
              ElementsAre("cudaLaunchKernel _Z4gemmv 1,2,3,4,5,6, -> 0 in aten::linear/aten::addmm/step on cuda:0 7",
                          "cudaMemcpyAsync 100 host_to_device 0 0 30 -> 0 in aten::linear/aten::addmm/step on cuda:1 9",
                          "cudaGraphInstantiate 0  16 32 1 -> 2 in // on cuda:0 0",
                          "cuLaunchKernelEx ? 0,0,0,0,0,0, -> 0 in // on cuda:0 0"));
}

constexpr char kFill[] = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEEEEviT0_T1_";

TEST(KernelName, LeavesOutWhatTemplatesAndFunctionsAreGiven) {
  EXPECT_EQ(KernelName(kFill), "at::native::vectorized_elementwise_kernel<...>");
  EXPECT_EQ(KernelSignature(kFill), "void at::native::vectorized_elementwise_kernel<...>(...)");
  EXPECT_EQ(KernelName("_Z11copy_kernelPfS_i"), "copy_kernel");
  EXPECT_EQ(KernelSignature("_Z11copy_kernelPfS_i"), "copy_kernel(...)");
  EXPECT_EQ(KernelName("_ZN12_GLOBAL__N_16kernelEPf"), "(anonymous namespace)::kernel");
  EXPECT_EQ(KernelName("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
  EXPECT_EQ(KernelSignature("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
  EXPECT_EQ(KernelName(""), "");
  EXPECT_EQ(ShortKernelName(kFill), "vectorized_elementwise_kernel<...>");
  EXPECT_EQ(ShortKernelName("_ZN12_GLOBAL__N_16kernelEPf"), "kernel");
  EXPECT_EQ(ShortKernelName("a::b"), "a::b") << "not mangled";
}

TEST(KernelName, StaysWhereTheNameIsCutOrDamaged) {
  EXPECT_EQ(KernelName("_ZN2at6native29vectori"), "at::native");
  EXPECT_EQ(KernelName("_Z"), "_Z");
  EXPECT_EQ(KernelName("_ZN99999999999999999999999999x"), "_ZN99999999999999999999999999x");
  EXPECT_EQ(KernelName("_ZNSt3"), "std");
}

}  // namespace
}  // namespace memoir
