#include "interpose/cuda/device_call_records.h"

#include "interpose/cuda/correlation.h"
#include "interpose/cuda/driver_queries.h"
#include "interpose/ring/ring.h"
#include "interpose/ring/write_record.h"
#include "interpose/system/own_work.h"

namespace memoir {

constinit thread_local std::uint32_t memoir_cuda_correlation = 0;

namespace {

constinit thread_local int calls_open = 0;  // number of OutermostDeviceCall objects on this thread

std::uint16_t ResultOf(int result) {
  return result >= 0 && result < UINT16_MAX ? static_cast<std::uint16_t>(result) : UINT16_MAX;
}

// Returns the device whose context is current. 0 if unknown.
std::int8_t DeviceHere() {
  const int device = DeviceOfContext();
  return static_cast<std::int8_t>(device < 0 ? 0 : device);
}

}  // namespace

OutermostDeviceCall::OutermostDeviceCall() : recorded_(calls_open++ == 0 && RangeEpoch() != 0 && memoir_own_work == 0) {
  if (recorded_) memoir_cuda_correlation = 0;
}
OutermostDeviceCall::~OutermostDeviceCall() { --calls_open; }

void RecordDeviceCall(DeviceCallKind call, const DeviceWork& work, int result, std::uint64_t begin_tick) {
  if (RangeEpoch() == 0) return;  // the recording may have ended during the call
  const std::int8_t device = DeviceHere();
  const std::uint32_t correlation = memoir_cuda_correlation;
  WriteRecord<DeviceCallRecord>(RecordKind::kDeviceCall, static_cast<std::uint8_t>(call), [&](auto& record) {
    record.stream = reinterpret_cast<std::uintptr_t>(work.stream);
    record.bytes = work.bytes;
    record.graph = reinterpret_cast<std::uintptr_t>(work.graph);
    record.graph_exec = reinterpret_cast<std::uintptr_t>(work.graph_exec);
    record.ticks = record.tick > begin_tick ? record.tick - begin_tick : 0;
    record.result = ResultOf(result);
    record.device_index = device;
    record.copy_kind = work.copy_kind;
    record.correlation = correlation;
  });
}

void RecordLaunch(DeviceCallKind call, std::uint32_t kernel, const KernelLaunch& launch, int result) {
  if (RangeEpoch() == 0) return;
  const std::int8_t device = DeviceHere();
  const std::uint32_t correlation = memoir_cuda_correlation;
  const auto fill = [&](KernelLaunchRecord& record) {
    record.stream = reinterpret_cast<std::uintptr_t>(launch.stream);
    record.kernel = kernel;
    record.grid[0] = launch.grid.x;
    record.grid[1] = launch.grid.y;
    record.grid[2] = launch.grid.z;
    record.block[0] = launch.block.x;
    record.block[1] = launch.block.y;
    record.block[2] = launch.block.z;
    record.result = ResultOf(result);
    record.device_index = device;
    record.correlation = correlation;
  };
  WriteRecord<KernelLaunchRecord>(RecordKind::kKernelLaunch, static_cast<std::uint8_t>(call), fill, OnEmptyPool::kWait);
}

}  // namespace memoir
