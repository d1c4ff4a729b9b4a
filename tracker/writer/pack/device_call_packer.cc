#include "tracker/writer/pack/device_call_packer.h"

namespace memoir {
namespace {

constexpr std::uint8_t kCuda = 1;  // c10::DeviceType

}  // namespace

void DeviceCallPacker::AddKernelLaunch(ThreadState& /*thread*/, const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<KernelLaunchRecord>();
  const std::uint32_t kernel = FindKernel(record.kernel);
  run.Put(RunColumn::kDevice, shared_.FindDevice(kCuda, record.device_index));
  run.PutStream(record.stream);
  run.Put(RunColumn::kDeviceCall, record.header.flags);
  run.Put(RunColumn::kCallResult, record.result);
  run.PutCorrelation(record.correlation);
  run.Put(RunColumn::kKernel, kernel);
  for (const std::uint32_t blocks : record.grid) run.Put(RunColumn::kGrid, blocks);
  for (const std::uint32_t threads : record.block) run.Put(RunColumn::kGrid, threads);
}

void DeviceCallPacker::AddDeviceCall(ThreadState& /*thread*/, const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<DeviceCallRecord>();
  run.Put(RunColumn::kDevice, shared_.FindDevice(kCuda, record.device_index));
  run.PutStream(record.stream);
  run.Put(RunColumn::kDeviceCall, record.header.flags);
  run.Put(RunColumn::kCallResult, record.result);
  run.PutCorrelation(record.correlation);
  run.Put(RunColumn::kBytes, record.bytes);
  run.Put(RunColumn::kCopyKind, record.copy_kind);
  run.Put(RunColumn::kGraph, record.graph);
  run.Put(RunColumn::kGraphExec, record.graph_exec);
  run.Put(RunColumn::kCallTicks, record.ticks);
}

void DeviceCallPacker::AddKernelRun(ThreadState& /*thread*/, const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<KernelRunRecord>();
  const std::uint32_t kernel = FindKernel(record.kernel);
  run.Put(RunColumn::kDevice, shared_.FindDevice(kCuda, record.device_index));
  run.Put(RunColumn::kKernel, kernel);
  run.Put(RunColumn::kBytes, record.bytes);
  run.Put(RunColumn::kCopyKind, record.copy_kind);
  run.PutCorrelation(record.correlation);
  run.Put(RunColumn::kRunKind, record.header.flags);
  run.Put(RunColumn::kRunStream, record.stream);
  run.Put(RunColumn::kRunAge, record.tick - record.begin);
  run.Put(RunColumn::kRunNs, record.ns);
}

}  // namespace memoir
