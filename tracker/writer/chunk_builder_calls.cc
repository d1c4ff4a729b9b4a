// The part of ChunkBuilder for calls of CUDA: launches of kernels, copies, waits, graphs.
#include "tracker/writer/chunk_builder.h"

namespace memoir {
namespace {

constexpr std::uint8_t kCuda = 1;  // c10::DeviceType

}  // namespace

void ChunkBuilder::AddKernelLaunch(const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<KernelLaunchRecord>();
  Names::Name* kernel = names_.FindOperator(record.kernel);
  if (kernel != nullptr) names_.Define(kernel, part_, &definitions_);
  run.Put(RunColumn::kDevice, devices_.Find(kCuda, record.device_index, part_, &definitions_));
  run.PutStream(record.stream);
  run.Put(RunColumn::kDeviceCall, record.header.flags);
  run.Put(RunColumn::kCallResult, record.result);
  run.PutCorrelation(record.correlation);
  run.Put(RunColumn::kKernel, kernel == nullptr ? 0 : kernel->id);
  for (const std::uint32_t blocks : record.grid) run.Put(RunColumn::kGrid, blocks);
  for (const std::uint32_t threads : record.block) run.Put(RunColumn::kGrid, threads);
}

void ChunkBuilder::AddDeviceCall(const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<DeviceCallRecord>();
  run.Put(RunColumn::kDevice, devices_.Find(kCuda, record.device_index, part_, &definitions_));
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

void ChunkBuilder::AddKernelRun(const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<KernelRunRecord>();
  Names::Name* kernel = names_.FindOperator(record.kernel);
  if (kernel != nullptr) names_.Define(kernel, part_, &definitions_);
  run.Put(RunColumn::kDevice, devices_.Find(kCuda, record.device_index, part_, &definitions_));
  run.Put(RunColumn::kKernel, kernel == nullptr ? 0 : kernel->id);
  run.Put(RunColumn::kBytes, record.bytes);
  run.Put(RunColumn::kCopyKind, record.copy_kind);
  run.PutCorrelation(record.correlation);
  run.Put(RunColumn::kRunKind, record.header.flags);
  run.Put(RunColumn::kRunStream, record.stream);
  run.Put(RunColumn::kRunAge, record.tick - record.begin);
  run.Put(RunColumn::kRunNs, record.ns);
}

}  // namespace memoir
