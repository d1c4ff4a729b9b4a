#include "tools/model/replay/events/device_call_events.h"

#include <algorithm>
#include <cstdint>

namespace memoir {
namespace {

v1::DeviceCall CallOf(std::uint32_t number) {
  return v1::DeviceCall_IsValid(static_cast<int>(number)) ? static_cast<v1::DeviceCall>(number)
                                                          : v1::DEVICE_CALL_UNKNOWN;
}

v1::CopyKind CopyKindOf(std::uint32_t number) {
  return v1::CopyKind_IsValid(static_cast<int>(number)) ? static_cast<v1::CopyKind>(number) : v1::COPY_KIND_UNKNOWN;
}

v1::RunKind RunKindOf(std::uint32_t number) {
  return v1::RunKind_IsValid(static_cast<int>(number)) ? static_cast<v1::RunKind>(number) : v1::RUN_KIND_UNKNOWN;
}

std::uint32_t TakeCorrelation(RunCursor& cursor) {
  cursor.correlation += static_cast<std::uint64_t>(DecodeZigZag(cursor.run.correlation_delta.Next()));
  return static_cast<std::uint32_t>(cursor.correlation);
}

void TakeLaunch(Run& run, DictionaryIds& ids, DeviceCallEvent& event) {
  event.kernel = ids.name(run.kernel.Next32()).id;
  for (std::uint32_t& blocks : event.grid) blocks = run.grid.Next32();
  for (std::uint32_t& threads : event.block) threads = run.grid.Next32();
}

void TakeOther(RunCursor& cursor, DeviceCallEvent& event) {
  Run& run = cursor.run;
  event.bytes = run.bytes.Next();
  event.copy_kind = CopyKindOf(run.copy_kind.Next32());
  event.graph = run.graph.Next();
  event.graph_exec = run.graph_exec.Next();
  event.ticks = run.call_ticks.Next();
}

}  // namespace

void DeviceCallEvents::ShowCall(ThreadReplay& thread, RunCursor& cursor) {
  Run& run = cursor.run;
  auto event = context_.MakeEvent<DeviceCallEvent>(thread.id(), cursor.tick);
  event.device = context_.ids().device(run.device.Next32());
  event.stream = cursor.stream += static_cast<std::uint64_t>(DecodeZigZag(run.stream_delta.Next()));
  event.call = CallOf(run.device_call.Next32());
  event.result = run.call_result.Next32();
  event.correlation = TakeCorrelation(cursor);
  const ThreadReplay& working = threads_.Working(thread);
  if (const OpenRange* range = working.outermost_operator()) event.operator_name = range->name;
  const OpenRange* const leaf = thread.innermost() == nullptr ? working.innermost() : thread.innermost();
  if (leaf != nullptr) event.leaf_name = leaf->name;
  event.user_name = surrounding_.UserNameOf(thread);
  if (context_.options().modules) {
    const ModuleContext context = modules_.Of(working);
    event.module = context.module;
    event.phase = context.phase;
  }
  event.is_launch = cursor.kind() == v1::KERNEL_LAUNCH;
  event.is_launch ? TakeLaunch(run, context_.ids(), event) : TakeOther(cursor, event);
  context_.visitor().OnDeviceCall(event);
}

void DeviceCallEvents::ShowKernelRun(ThreadReplay& thread, RunCursor& cursor) {
  Run& run = cursor.run;
  auto event = context_.MakeEvent<KernelRunEvent>(thread.id(), cursor.tick);
  event.device = context_.ids().device(run.device.Next32());
  event.kernel = context_.ids().name(run.kernel.Next32()).id;
  event.bytes = run.bytes.Next();
  event.copy_kind = CopyKindOf(run.copy_kind.Next32());
  event.correlation = TakeCorrelation(cursor);
  event.kind = RunKindOf(run.run_kind.Next32());
  event.stream = run.run_stream.Next32();
  event.begin = cursor.tick - std::min(cursor.tick, run.run_age.Next());
  event.ns = run.run_ns.Next();
  context_.visitor().OnKernelRun(event);
}

}  // namespace memoir
