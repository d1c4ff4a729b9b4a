// Calls of CUDA: kernels by name and operator, copies, graphs with their pools, and where they stand in trees.
#include "tools/analyze/calls/device_call_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/data_flow/tree_builder.h"
#include "tools/analyze/tree/range_tree.h"
#include "tools/analyze/tree/range_tree_analysis.h"
#include "tools/analyze/tree/tree_stream.h"
#include "tools/model/kernel_name.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::ProcessBuilder;
using testing::TemporaryFolder;

constexpr char kFill[] =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_";
constexpr char kAdd[] =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_";

class DeviceCallsTest : public ::testing::Test {
 protected:
  DeviceCallsTest() : gpu_(process_.AddDevice("cuda", 0)) {}
  Capture Open() {
    process_.WriteTo(folder_.path());
    return *Capture::Open(folder_.path());
  }

  TemporaryFolder folder_;
  ProcessBuilder process_;
  std::uint32_t gpu_;
};

TEST_F(DeviceCallsTest, CountsLaunchesByKernelOperatorAndStream) {
  process_.Begin("aten::fill_")
      .LaunchKernel(gpu_, {.kernel = kFill})
      .LaunchKernel(gpu_, {.kernel = kFill, .stream = 7});
  process_.End().Begin("aten::add").LaunchKernel(gpu_, {.kernel = kAdd}).LaunchKernel(gpu_, {.kernel = kFill}).End();
  process_.LaunchKernel(gpu_, {.kernel = "", .call = v1::CU_LAUNCH_KERNEL, .result = 98});
  const auto calls = AnalyzeDeviceCalls(Open(), {});
  ASSERT_TRUE(calls.ok()) << calls.status();
  EXPECT_EQ(calls->launches, 5u);
  EXPECT_EQ(calls->unnamed, 1u);
  EXPECT_FALSE(calls->launches_recorded) << "no process says that it recorded them";
  ASSERT_EQ(calls->kernels.size(), 3u);
  EXPECT_EQ(calls->kernels[0].symbol, kFill);
  EXPECT_EQ(calls->kernels[0].name, "at::native::vectorized_elementwise_kernel<...>");
  EXPECT_EQ(calls->kernels[0].launches, 3u);
  EXPECT_THAT(calls->kernels[0].operators, ElementsAre(Pair("aten::fill_", 2), Pair("aten::add", 1)));
  EXPECT_THAT(calls->kernels[0].streams, ElementsAre("cuda:0 0x0", "cuda:0 0x7"));
  EXPECT_EQ(calls->kernels[1].symbol, "");
  EXPECT_EQ(calls->kernels[1].failed, 1u);
  EXPECT_THAT(calls->kernels[1].operators, ElementsAre(Pair("", 1)));
}

TEST_F(DeviceCallsTest, AddsUpBytesAndTimeOfOtherCalls) {
  process_.Begin("aten::to").CallDevice(gpu_, {.bytes = 64, .kind = v1::HOST_TO_DEVICE, .ticks = 10});
  process_.CallDevice(gpu_, {.bytes = 36, .kind = v1::HOST_TO_DEVICE, .ticks = 20}).End();
  process_.CallDevice(gpu_, {.call = v1::STREAM_SYNCHRONIZE, .stream = 7, .ticks = 100});
  const auto calls = AnalyzeDeviceCalls(Open(), {});
  ASSERT_TRUE(calls.ok()) << calls.status();
  EXPECT_THAT(calls->kernels, IsEmpty());
  ASSERT_EQ(calls->calls.size(), 2u);
  EXPECT_EQ(calls->calls[0].call, "cudaMemcpyAsync");
  EXPECT_EQ(calls->calls[0].kind, v1::HOST_TO_DEVICE);
  EXPECT_EQ(calls->calls[0].bytes, 100u);
  EXPECT_EQ(calls->calls[0].ns, 30u);
  EXPECT_THAT(calls->calls[0].operators, ElementsAre(Pair("aten::to", 2)));
  EXPECT_EQ(calls->calls[1].ns, 100u);
}

TEST_F(DeviceCallsTest, WhatRanHasTheOperatorOfItsLaunch) {
  process_.Begin("aten::fill_").LaunchKernel(gpu_, {.kernel = kFill, .correlation = 10}).End();
  process_.Begin("aten::add").LaunchKernel(gpu_, {.kernel = kAdd, .correlation = 11});
  process_.LaunchKernel(gpu_, {.kernel = kFill, .correlation = 12}).End();
  process_.CallDevice(gpu_, {.bytes = 64, .kind = v1::HOST_TO_DEVICE, .correlation = 13});
  process_.CallDevice(gpu_, {.call = v1::GRAPH_LAUNCH, .graph_exec = 0x10, .correlation = 14});
  process_.OnThread(2).RunOnDevice(gpu_, {.kernel = kFill, .correlation = 10, .ns = 30});
  process_.RunOnDevice(gpu_, {.kernel = kAdd, .correlation = 11, .ns = 500});
  process_.RunOnDevice(gpu_, {.kernel = kFill, .correlation = 12, .ns = 70});
  process_.RunOnDevice(gpu_, {.kernel = "", .correlation = 13, .ns = 9, .kind = v1::RUN_OF_COPY, .bytes = 64});
  process_.RunOnDevice(gpu_, {.kernel = kAdd, .correlation = 14, .ns = 1});
  process_.RunOnDevice(gpu_, {.kernel = kAdd, .correlation = 14, .ns = 2});
  const auto calls = AnalyzeDeviceCalls(Open(), {});
  ASSERT_TRUE(calls.ok()) << calls.status();
  ASSERT_EQ(calls->kernels.size(), 2u);
  EXPECT_EQ(calls->kernels[0].symbol, kAdd) << "the longest first";
  EXPECT_EQ(calls->kernels[0].launches, 1u);
  EXPECT_EQ(calls->kernels[0].runs, 3u) << "two are a graph's";
  EXPECT_EQ(calls->kernels[0].device_ns, 503u);
  EXPECT_THAT(calls->kernels[0].operators_ns, ElementsAre(Pair("aten::add", 500), Pair("", 3)));
  EXPECT_THAT(calls->kernels[1].operators_ns, ElementsAre(Pair("aten::add", 70), Pair("aten::fill_", 30)));
  EXPECT_EQ(calls->device_ns, 603u);
  EXPECT_EQ(calls->runs, 5u);
  EXPECT_EQ(calls->other_runs, 0u);
  ASSERT_EQ(calls->calls.size(), 2u);
  EXPECT_EQ(calls->calls[0].device_ns + calls->calls[1].device_ns, 9u);
}

TEST_F(DeviceCallsTest, ARunMayBeToldBeforeItsLaunchOrWithoutOne) {
  process_.OnThread(2).RunOnDevice(gpu_, {.kernel = kAdd, .correlation = 4, .ns = 5});
  process_.RunOnDevice(gpu_, {.kernel = kFill, .correlation = 99, .ns = 1000});
  process_.OnThread(1).Begin("aten::add").LaunchKernel(gpu_, {.kernel = kAdd, .correlation = 4}).End();
  const auto calls = AnalyzeDeviceCalls(Open(), {});
  ASSERT_TRUE(calls.ok()) << calls.status();
  ASSERT_EQ(calls->kernels.size(), 1u);
  EXPECT_THAT(calls->kernels[0].operators_ns, ElementsAre(Pair("aten::add", 5)));
  EXPECT_EQ(calls->other_runs, 1u);
  EXPECT_EQ(calls->other_ns, 1000u);
}

TEST_F(DeviceCallsTest, CallsThatTakeMemoryAreAmongTheOthers) {
  process_.Begin("aten::empty").GiveDriverBlock(gpu_, 0x1000, 2048, v1::MALLOC, "libc10_cuda.so");
  process_.GiveDriverBlock(gpu_, 0x2000, 1024, v1::MALLOC, "libc10_cuda.so").End();
  process_.GiveDriverBlock(gpu_, 0x3000, 4096, v1::CONTEXT, "libc10_cuda.so");
  const auto calls = AnalyzeDeviceCalls(Open(), {});
  ASSERT_TRUE(calls.ok()) << calls.status();
  ASSERT_EQ(calls->calls.size(), 1u);
  EXPECT_EQ(calls->calls[0].call, "cudaMalloc");
  EXPECT_EQ(calls->calls[0].calls, 2u);
  EXPECT_EQ(calls->calls[0].bytes, 3072u);
  EXPECT_EQ(calls->calls[0].ns, std::nullopt) << "how long they took is not recorded";
  EXPECT_THAT(calls->calls[0].operators, ElementsAre(Pair("aten::empty", 2)));
}

class GraphTest : public DeviceCallsTest {
 protected:
  void CaptureStream(std::uint64_t stream, std::uint64_t graph, std::uint64_t exec) {
    process_.CallDevice(gpu_, {.call = v1::STREAM_BEGIN_CAPTURE, .stream = stream});
    process_.LaunchKernel(gpu_, {.kernel = kAdd, .stream = stream});
    process_.CallDevice(gpu_, {.call = v1::STREAM_END_CAPTURE, .stream = stream, .graph = graph});
    process_.CallDevice(gpu_, {.call = v1::GRAPH_INSTANTIATE, .graph = graph, .graph_exec = exec});
    process_.CallDevice(gpu_, {.call = v1::GRAPH_DESTROY, .graph = graph});
  }
  void Launch(std::uint64_t exec, int times) {
    for (; times > 0; --times) process_.CallDevice(gpu_, {.call = v1::GRAPH_LAUNCH, .stream = 7, .graph_exec = exec});
  }
};

TEST_F(GraphTest, GraphsAreFollowedFromCaptureToReplay) {
  CaptureStream(7, 0x100, 0x200);
  Launch(0x200, 20);
  CaptureStream(7, 0x100, 0x300);  // the handle of the graph that is gone
  Launch(0x300, 2);
  process_.CallDevice(gpu_, {.call = v1::GRAPH_EXEC_DESTROY, .graph_exec = 0x200});
  const auto calls = AnalyzeDeviceCalls(Open(), {});
  ASSERT_TRUE(calls.ok()) << calls.status();
  ASSERT_EQ(calls->graphs.size(), 2u);
  EXPECT_EQ(calls->graphs[0].replays, 20u);
  EXPECT_EQ(calls->graphs[0].launches, 1u);
  EXPECT_TRUE(calls->graphs[0].instantiated);
  EXPECT_FALSE(calls->graphs[0].alive);
  EXPECT_EQ(calls->graphs[1].replays, 2u);
  EXPECT_TRUE(calls->graphs[1].alive);
  ASSERT_EQ(calls->kernels.size(), 1u);
  EXPECT_EQ(calls->kernels[0].captured, 2u);
}

TEST_F(GraphTest, CapturesThatFailAndHandlesThatNobodyMadeDoNoHarm) {
  process_.CallDevice(gpu_, {.call = v1::STREAM_BEGIN_CAPTURE, .stream = 7});
  process_.CallDevice(gpu_, {.call = v1::STREAM_END_CAPTURE, .stream = 7, .result = 901});
  process_.CallDevice(gpu_, {.call = v1::STREAM_END_CAPTURE, .stream = 9});
  process_.CallDevice(gpu_, {.call = v1::GRAPH_EXEC_DESTROY, .graph_exec = 0x999});
  Launch(0x998, 1);
  const auto calls = AnalyzeDeviceCalls(Open(), {});
  ASSERT_TRUE(calls.ok()) << calls.status();
  ASSERT_EQ(calls->graphs.size(), 1u);
  EXPECT_FALSE(calls->graphs[0].alive);
  EXPECT_FALSE(calls->graphs[0].instantiated);
  EXPECT_EQ(calls->graphs[0].replays, 0u);
}

TEST_F(DeviceCallsTest, StandUnderTheirOperatorInTrees) {
  process_.Begin("aten::add").LaunchKernel(gpu_, {.kernel = kAdd, .stream = 7});
  process_.LaunchKernel(gpu_, {.kernel = kAdd, .stream = 7}).CallDevice(gpu_, {.bytes = 8, .ticks = 30}).End();
  const Capture capture = Open();
  const auto tree = AnalyzeRangeTree(capture, {});
  ASSERT_TRUE(tree.ok()) << tree.status();
  ASSERT_EQ(tree->nodes.size(), 2u);
  const std::vector<TreeMemory>& memory = tree->nodes[1].memory;
  ASSERT_EQ(memory.size(), 2u);
  EXPECT_EQ(memory[0].action, MemoryAction::kLaunch);
  EXPECT_EQ(memory[0].kernel, kAdd);
  EXPECT_EQ(memory[0].count, 2u);
  EXPECT_EQ(memory[0].stream, 7u);
  EXPECT_EQ(memory[1].device_call, v1::COPY_ASYNC);
  EXPECT_EQ(memory[1].bytes, 8u);
  EXPECT_EQ(memory[1].ns, 30u);
  std::vector<std::pair<StreamedNode::Kind, std::uint32_t>> streamed;
  ASSERT_TRUE(StreamTree(capture, {}, [&](const StreamedNode& node, const ReplayState&) {
                streamed.emplace_back(node.kind, node.parent);
                if (node.device_call != nullptr && !node.device_call->is_launch) {
                  EXPECT_EQ(node.device_call->tick - node.begin, 30u);
                }
              }).ok());
  using Kind = StreamedNode::Kind;
  EXPECT_THAT(streamed, ElementsAre(Pair(Kind::kRange, kNoTreeNode), Pair(Kind::kDeviceCall, 0u),
                                    Pair(Kind::kDeviceCall, 0u), Pair(Kind::kDeviceCall, 0u)));
}

TEST_F(DeviceCallsTest, RangesOfNvtxAreNotInTorchsTree) {
  process_.BeginUser("user").BeginNvtx("nvtx").Begin("aten::add").End().End().End();
  const auto tree = BuildEventTree(Open(), {}, {.parameters = false});
  ASSERT_TRUE(tree.ok()) << tree.status();
  ASSERT_EQ(tree->nodes.size(), 2u);
  EXPECT_EQ(tree->names[tree->nodes[0].name], "user");
  EXPECT_EQ(tree->names[tree->nodes[1].name], "aten::add");
  EXPECT_EQ(tree->nodes[1].parent, 0u);
}

TEST_F(DeviceCallsTest, AreInTorchsTreeOnlyWhereAskedFor) {
  process_.Begin("aten::add").LaunchKernel(gpu_, {.kernel = kAdd});
  process_.CallDevice(gpu_, {.call = v1::STREAM_BEGIN_CAPTURE, .stream = 7});
  process_.LaunchKernel(gpu_, {.kernel = kAdd, .stream = 7}).End();
  const Capture capture = Open();
  const auto names = [&](bool device_calls) {
    std::vector<std::string> found;
    const auto tree = BuildEventTree(capture, {}, {.parameters = false, .device_calls = device_calls});
    EXPECT_TRUE(tree.ok()) << tree.status();
    for (const TreeNode& node : tree->nodes) found.push_back(tree->names[node.name]);
    return found;
  };
  EXPECT_THAT(names(false), ElementsAre("aten::add"));
  EXPECT_THAT(names(true), ElementsAre("aten::add", "cudaLaunchKernel", KernelSignature(kAdd), "cudaStreamBeginCapture",
                                       "cudaLaunchKernel"));
}

}  // namespace
}  // namespace memoir
