// The part of the builder that makes calls of CUDA.
#include "tests/captures/capture_builder.h"
#include "tests/captures/capture_encoding.h"

namespace memoir::testing {

v1::ThreadRun& ProcessBuilder::AddCall(v1::EventKind kind, std::uint32_t device, std::uint64_t stream) {
  v1::ThreadRun& run = AddEvent(kind);
  thread().devices.push_back(device);
  if (kind != v1::KERNEL_RUN) run.add_stream_delta(Difference(stream, thread().last_stream));
  tick_ += options_.tick_step;
  return run;
}

ProcessBuilder& ProcessBuilder::LaunchKernel(std::uint32_t device, const Launch& launch) {
  const std::uint32_t name = launch.kernel.empty() ? 0 : NameIdOf(launch.kernel, false);
  v1::ThreadRun& run = AddCall(v1::KERNEL_LAUNCH, device, launch.stream);
  run.add_device_call(launch.call);
  run.add_call_result(launch.result);
  run.add_kernel(name);
  run.add_correlation_delta(Difference(launch.correlation, thread().last_correlation));
  for (const std::uint32_t size : launch.grid) run.add_grid(size);
  return *this;
}

ProcessBuilder& ProcessBuilder::CallDevice(std::uint32_t device, const CudaCall& call) {
  v1::ThreadRun& run = AddCall(v1::DEVICE_CALL, device, call.stream);
  run.add_device_call(call.call);
  run.add_call_result(call.result);
  run.add_bytes(call.bytes);
  run.add_copy_kind(call.kind);
  run.add_graph(call.graph);
  run.add_graph_exec(call.graph_exec);
  run.add_call_ticks(call.ticks);
  run.add_correlation_delta(Difference(call.correlation, thread().last_correlation));
  return *this;
}

ProcessBuilder& ProcessBuilder::RunOnDevice(std::uint32_t device, const DeviceRun& ran) {
  const std::uint32_t name = ran.kernel.empty() ? 0 : NameIdOf(ran.kernel, false);
  v1::ThreadRun& run = AddCall(v1::KERNEL_RUN, device, 0);
  run.add_kernel(name);
  run.add_bytes(ran.bytes);
  run.add_copy_kind(ran.copy);
  run.add_correlation_delta(Difference(ran.correlation, thread().last_correlation));
  run.add_run_kind(ran.kind);
  run.add_run_stream(ran.stream);
  run.add_run_age(ran.age);
  run.add_run_ns(ran.ns);
  return *this;
}

}  // namespace memoir::testing
