// The sample of calls of CUDA.
#include <cstdint>
#include <string>

#include "tests/captures/capture_builder.h"
#include "tests/golden/sample_captures.h"

namespace memoir::testing {

// Launches, copies, waits, and a graph with its pool.
void WriteKernels(const std::string& folder) {
  constexpr char kAdd[] = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEEEEviT0_T1_";
  constexpr char kFill[] = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEEEEviT0_T1_";
  constexpr std::uint64_t kStream = 0x55aa10;
  ProcessOptions options;
  options.tick_step = 100'000;
  ProcessBuilder process(options);
  process.info().set_python_version("3.11.7");
  process.info().set_memoir_version("0.1.0");
  process.info().set_torch_version("2.11.0+cu130");
  process.info().set_simulated_device("NVIDIA L4 (l4) with 64.0 MiB");
  process.info().add_sources("cuda-kernels");
  const std::uint32_t cuda = process.AddDevice("cuda", 0, "NVIDIA L4");
  process.EnterModule("", "Net", "Net").Begin("aten::ones").AllocateBlock(cuda, 0x1000000, 4u << 20);
  process.Begin("aten::fill_").LaunchKernel(cuda, {.kernel = kFill}).End().End();
  process.Begin("aten::copy_").CallDevice(cuda, {.bytes = 4u << 20, .kind = v1::HOST_TO_DEVICE, .ticks = 40'000}).End();
  for (int i = 0; i < 3; ++i) process.Begin("aten::add").LaunchKernel(cuda, {.kernel = kAdd, .stream = kStream}).End();
  process.Begin("custom::op").LaunchKernel(cuda, {.kernel = "", .call = v1::CU_LAUNCH_KERNEL, .result = 400});
  process.LaunchKernel(cuda, {.kernel = "triton_poi_fused_add_0", .call = v1::CU_LAUNCH_KERNEL_EX}).End();
  process.ExitModule("", "Net", "Net");
  process.CallDevice(cuda, {.call = v1::STREAM_BEGIN_CAPTURE, .stream = kStream});
  process.Begin("aten::add").LaunchKernel(cuda, {.kernel = kAdd, .stream = kStream}).End();
  process.CallDevice(cuda, {.call = v1::STREAM_END_CAPTURE, .stream = kStream, .graph = 0x77000});
  process.CallDevice(cuda, {.call = v1::GRAPH_INSTANTIATE, .graph = 0x77000, .graph_exec = 0x78000});
  for (int i = 0; i < 20; ++i)
    process.CallDevice(cuda, {.call = v1::GRAPH_LAUNCH, .stream = kStream, .graph_exec = 0x78000});
  process.CallDevice(cuda, {.call = v1::DEVICE_SYNCHRONIZE, .ticks = 90'000});
  process.WriteTo(folder);
}

// Launches whose kernels were timed, a graph that ran some more, and one run without a recorded launch.
void WriteKernelTimes(const std::string& folder) {
  constexpr char kAdd[] = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEEEEviT0_T1_";
  constexpr char kSum[] = "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfEEEEvT1_";
  ProcessOptions options;
  options.tick_step = 100'000;
  ProcessBuilder process(options);
  process.info().set_python_version("3.11.7");
  process.info().set_memoir_version("0.1.0");
  process.info().set_torch_version("2.11.0+cu130");
  process.info().add_sources("cuda-kernels");
  process.info().add_sources("kernel-times");
  const std::uint32_t cuda = process.AddDevice("cuda", 0, "NVIDIA L4");
  process.Begin("aten::copy_");
  process.CallDevice(cuda, {.bytes = 4u << 20, .kind = v1::HOST_TO_DEVICE, .ticks = 40'000, .correlation = 1}).End();
  for (std::uint32_t i = 2; i < 5; ++i)
    process.Begin("aten::add").LaunchKernel(cuda, {.kernel = kAdd, .correlation = i}).End();
  process.Begin("aten::sum").LaunchKernel(cuda, {.kernel = kSum, .correlation = 5}).End();
  process.CallDevice(cuda, {.call = v1::GRAPH_LAUNCH, .graph_exec = 0x78000, .correlation = 6});
  process.CallDevice(cuda, {.call = v1::DEVICE_SYNCHRONIZE, .ticks = 90'000});
  process.OnThread(2).RunOnDevice(cuda, {.kernel = "",
                                         .correlation = 1,
                                         .ns = 310'000,
                                         .kind = v1::RUN_OF_COPY,
                                         .bytes = 4u << 20,
                                         .copy = v1::HOST_TO_DEVICE,
                                         .age = 700'000});
  for (std::uint32_t i = 2; i < 5; ++i)
    process.RunOnDevice(cuda, {.kernel = kAdd, .correlation = i, .ns = 2'000 + i, .age = 600'000});
  process.RunOnDevice(cuda, {.kernel = kSum, .correlation = 5, .ns = 81'000, .age = 500'000});
  process.RunOnDevice(cuda, {.kernel = kAdd, .correlation = 6, .ns = 3'000, .age = 400'000});
  process.RunOnDevice(cuda, {.kernel = kSum, .correlation = 77, .ns = 900, .age = 300'000});
  process.WriteTo(folder);
}

}  // namespace memoir::testing
