#include "tools/view/events/event_json.h"

#include <optional>

#include "tools/view/json/json.h"

namespace memoir {
namespace {

std::string_view CauseName(DeallocateCause cause) {
  switch (cause) {
    case DeallocateCause::kRecorded:
      return "recorded";
    case DeallocateCause::kReplaced:
      return "replaced";
    case DeallocateCause::kResync:
      return "resync";
    case DeallocateCause::kUnknown:
      return "unknown";
  }
  return "recorded";
}

}  // namespace

void EventJsonWriter::OnProcessBegin(const ProcessEvent& event) {
  const ProcessSummary& process = capture_.processes()[event.process.value];
  const v1::ProcessInfo& info = process.info;
  line_.Begin("process_begin", event);
  if (process.is_rank) line_.AddNumber("rank", info.rank());
  line_.AddNumber("pid", info.pid());
  line_.AddText("host", info.host());
  line_.AddText("program", info.program());
  line_.AddText("torch_version", info.torch_version());
  if (!info.simulated_device().empty()) line_.AddText("simulated_device", info.simulated_device());
  line_.End();
}

void EventJsonWriter::OnProcessEnd(const ProcessEvent& event) {
  line_.Begin("process_end", event);
  line_.End();
}

void EventJsonWriter::OnRangeBegin(const RangeBeginEvent& event) {
  line_.Begin("range_begin", event);
  line_.AddName("name", event.range->name);
  line_.AddText("source", ToString(event.range->source));
  line_.AddBool("is_operator", event.range->is_operator);
  line_.AddNumber("depth", event.range->depth);
  line_.AddNumber("call", event.range->call);
  if (event.range->sequence >= 0) line_.AddNumber("sequence", static_cast<std::uint64_t>(event.range->sequence));
  if (event.range->source == RangeSource::kBackward) line_.AddNumber("forward_thread", event.range->forward_thread);
  line_.AddModuleAndPhase(event.range->module, event.range->phase);
  line_.AddSignature(event.signature);
  line_.AddWritten(event.range->schema);
  line_.AddTensors(event.tensors);
  line_.End();
}

void EventJsonWriter::OnRangeEnd(const RangeEndEvent& event) {
  line_.Begin("range_end", event);
  line_.AddName("name", event.range->name);
  line_.AddNumber("depth", event.range->depth);
  line_.AddNumber("call", event.range->call);
  if (event.implicit) line_.AddBool("implicit", true);
  line_.AddSignature(event.signature);
  line_.AddTensors(event.tensors);
  line_.End();
}

void EventJsonWriter::OnFirstSeen(const FirstSeenEvent& event) {
  line_.Begin("first_seen", event);
  line_.AddName("name", event.range->name);
  line_.AddBool("as_result", event.as_result);
  line_.AddTensor("tensor", *event.tensor);
  line_.End();
}

void EventJsonWriter::AddModuleEvent(std::string_view kind, const ModuleEvent& event) {
  line_.Begin(kind, event);
  line_.AddModuleAndPhase(event.module, event.phase);
  if (event.module.valid()) line_.AddText("class", state_->dictionary().module(event.module).class_name);
  line_.AddNumber("depth", event.depth);
  if (event.of_gradient) line_.AddBool("of_gradient", true);
  line_.End();
}

void EventJsonWriter::OnAllocate(const AllocateEvent& event) {
  line_.Begin("allocate", event);
  line_.AddBlock(*event.block);
  if (event.block->origin == BlockOrigin::kKeyframe) line_.AddBool("from_keyframe", true);
  if (event.block->origin == BlockOrigin::kFound) line_.AddBool("found", true);
  line_.End();
}

void EventJsonWriter::OnDeallocate(const DeallocateEvent& event) {
  line_.Begin("deallocate", event);
  line_.AddBlock(*event.block);
  line_.AddText("cause", CauseName(event.cause));
  line_.AddBool("temporary", event.temporary);
  line_.End();
}

void EventJsonWriter::OnFreeCompleted(const FreeCompletedEvent& event) {
  line_.Begin("free_completed", event);
  line_.AddDevice(event.device);
  line_.AddAddress("address", event.address);
  line_.AddNumber("bytes", event.bytes);
  line_.AddNumber("requested_bytes", event.requested_bytes);
  line_.End();
}

void EventJsonWriter::OnSegment(const SegmentEvent& event) {
  line_.Begin(ToString(event.action), event);
  line_.AddDevice(event.segment->device);
  line_.AddAddress("address", event.segment->address);
  line_.AddNumber("bytes", event.segment->bytes);
  line_.AddPlace(*event.segment);
  line_.AddNumber("serial", event.segment->serial);
  line_.AddContext(*event.segment);
  line_.End();
}

void EventJsonWriter::OnOutOfMemory(const OutOfMemoryEvent& event) {
  line_.Begin("out_of_memory", event);
  line_.AddDevice(event.asked->device);
  line_.AddNumber("bytes", event.asked->bytes);
  line_.AddNumber("device_free_bytes", event.device_free);
  if (event.device_limit) line_.AddNumber("device_limit_bytes", *event.device_limit);
  line_.AddPlace(*event.asked);
  line_.AddNumber("serial", event.asked->serial);
  line_.AddContext(*event.asked);
  line_.End();
}

void EventJsonWriter::OnDeviceStatistics(const DeviceStatisticsEvent& event) {
  line_.Begin("device_statistics", event);
  line_.AddDevice(event.device);
  line_.AddNumber("allocated_bytes", event.allocated_bytes);
  line_.AddNumber("active_bytes", event.active_bytes);
  line_.AddNumber("reserved_bytes", event.reserved_bytes);
  line_.AddNumber("num_alloc_retries", event.alloc_retries);
  line_.AddNumber("num_ooms", event.ooms);
  line_.End();
}

void EventJsonWriter::OnDriverAllocate(const DriverAllocateEvent& event) {
  line_.Begin("driver_allocate", event);
  line_.AddDriverBlock(*event.block);
  line_.End();
}

void EventJsonWriter::OnDriverFree(const DriverFreeEvent& event) {
  line_.Begin("driver_free", event);
  line_.AddDevice(event.device);
  line_.AddAddress("address", event.address);
  line_.AddNumber("serial", event.serial);
  line_.AddNumberOrNull("bytes", event.block == nullptr ? std::nullopt : std::optional(event.block->bytes));
  if (event.block != nullptr) line_.AddText("call", ToString(event.block->call));
  if (event.block != nullptr) line_.AddName("library", event.block->library);
  line_.End();
}

void EventJsonWriter::OnDriverRefused(const DriverRefusedEvent& event) {
  line_.Begin("driver_refused", event);
  line_.AddDriverBlock(*event.asked);
  line_.AddNumber("error", event.error);
  line_.AddNumberOrNull("device_free_bytes", event.device_free);
  line_.End();
}

void EventJsonWriter::OnDeviceSample(const DeviceSampleEvent& event) {
  line_.Begin("device_reading", event);
  line_.AddDevice(event.device);
  line_.AddText("cause", ToString(event.cause));
  line_.AddNumberOrNull("free_bytes", event.free_bytes);
  line_.AddNumberOrNull("total_bytes", event.total_bytes);
  line_.AddNumberOrNull("process_bytes", event.process_bytes);
  line_.AddNumberOrNull("other_processes_bytes", event.other_processes_bytes);
  line_.AddNumberOrNull("pool_bytes", event.pool_bytes);
  if (event.before) line_.AddBool("from_keyframe", true);
  line_.End();
}

void EventJsonWriter::OnHostReading(const HostReadingEvent& event) {
  line_.Begin("host_reading", event);
  line_.AddText("cause", ToString(event.cause));
  line_.AddNumberOrNull("anonymous_bytes", event.numbers.anonymous_bytes);
  line_.AddNumberOrNull("shared_bytes", event.numbers.shared_bytes);
  line_.AddNumberOrNull("file_bytes", event.numbers.file_bytes);
  line_.AddNumberOrNull("swap_bytes", event.numbers.swap_bytes);
  line_.AddNumberOrNull("proportional_bytes", event.numbers.proportional_bytes);
  line_.AddNumberOrNull("malloc_used_bytes", event.numbers.malloc_used_bytes);
  line_.AddNumberOrNull("malloc_free_bytes", event.numbers.malloc_free_bytes);
  line_.AddNumberOrNull("children", event.numbers.children);
  line_.AddNumberOrNull("children_bytes", event.numbers.children_bytes);
  line_.AddNumberOrNull("group_id", event.numbers.group_id);
  line_.AddNumberOrNull("group_used_bytes", event.numbers.group_used_bytes);
  line_.AddNumberOrNull("group_limit_bytes", event.numbers.group_limit_bytes);
  line_.AddNumberOrNull("group_reclaimable_bytes", event.numbers.group_reclaimable_bytes);
  line_.AddNumberOrNull("group_shared_bytes", event.numbers.group_shared_bytes);
  line_.AddNumberOrNull("group_kills", event.numbers.group_kills);
  line_.AddNumberOrNull("machine_bytes", event.numbers.machine_bytes);
  line_.AddNumberOrNull("machine_available_bytes", event.numbers.machine_available_bytes);
  line_.AddNumberOrNull("machine_kills", event.numbers.machine_kills);
  if (event.before) line_.AddBool("from_keyframe", true);
  line_.End();
}

void EventJsonWriter::OnDeviceCall(const DeviceCallEvent& event) {
  line_.Begin(event.is_launch ? "kernel_launch" : "device_call", event);
  line_.AddText("call", ToString(event.call));
  line_.AddDevice(event.device);
  if (event.stream != 0) line_.AddAddress("stream", event.stream);
  if (event.is_launch) AddLaunch(event);
  if (event.copy_kind != v1::COPY_KIND_UNKNOWN) line_.AddText("kind", ToString(event.copy_kind));
  if (event.bytes != 0) line_.AddNumber("bytes", event.bytes);
  if (event.graph != 0) line_.AddAddress("graph", event.graph);
  if (event.graph_exec != 0) line_.AddAddress("graph_exec", event.graph_exec);
  if (!event.is_launch) line_.AddNumber("ticks", event.ticks);
  if (event.result != 0) line_.AddNumber("error", event.result);
  if (event.correlation != 0) line_.AddNumber("correlation", event.correlation);
  line_.AddName("operator", event.operator_name);
  line_.AddName("leaf", event.leaf_name);
  line_.AddName("range", event.user_name);
  line_.AddModuleAndPhase(event.module, event.phase);
  line_.End();
}

void EventJsonWriter::AddLaunch(const DeviceCallEvent& event) {
  if (event.kernel.valid()) {
    line_.AddName("kernel", event.kernel);
  } else {
    line_.AddNull("kernel");
  }
  if (event.grid[0] == 0) return;
  line_.AddNumbers("grid", event.grid);
  line_.AddNumbers("block", event.block);
}

void EventJsonWriter::OnKernelRun(const KernelRunEvent& event) {
  line_.Begin("kernel_run", event);
  line_.AddText("what", ToString(event.kind));
  line_.AddDevice(event.device);
  line_.AddNumber("device_stream", event.stream);
  line_.AddNumber("correlation", event.correlation);
  if (event.kernel.valid()) line_.AddName("kernel", event.kernel);
  if (event.copy_kind != v1::COPY_KIND_UNKNOWN) line_.AddText("kind", ToString(event.copy_kind));
  if (event.bytes != 0) line_.AddNumber("bytes", event.bytes);
  line_.AddNumber("begin", event.begin);
  line_.AddNumber("ns", event.ns);
  line_.End();
}

// Writes the frames of each stack only once, because they are long and stacks recur.
void EventJsonWriter::OnStack(const StackEvent& event) {
  line_.Begin("stack", event);
  line_.AddNumber("stack", event.stack.valid() ? event.stack.value + 1 : 0);
  if (event.stack.valid() && stacks_shown_.insert(event.stack).second) line_.AddFrames(event.stack);
  if (event.before) line_.AddBool("before", true);
  line_.End();
}

void EventJsonWriter::OnCallBegin(const CallEvent& event) {
  line_.Begin("call_begin", event);
  line_.AddCode(event.code);
  line_.AddNumber("around", event.around);
  line_.End();
}

void EventJsonWriter::OnCallEnd(const CallEvent& event) {
  line_.Begin("call_end", event);
  line_.AddNumber("around", event.around);
  line_.End();
}

void EventJsonWriter::OnHolds(const HeldTensorsEvent& event) {
  const bool is_optimizer = !event.is_module && !event.is_gradient && !event.more;
  line_.Begin(event.more          ? "holds_more"
              : event.is_module   ? "module_holds"
              : event.is_gradient ? "gradient_of"
                                  : "optimizer_holds",
              event);
  line_.AddModule(event.module);
  if (is_optimizer) line_.AddNumber("optimizer", event.owner);
  line_.AddSignature(event.signature);
  line_.AddNames(event.names);
  line_.AddTensors(event.tensors);
  line_.End();
}

void EventJsonWriter::OnMark(const MarkEvent& event) {
  line_.Begin("mark", event);
  line_.AddName("name", event.name);
  line_.End();
}

void EventJsonWriter::OnStep(const StepEvent& event) {
  line_.Begin("step", event);
  line_.AddNumber("step", event.step);
  line_.End();
}

void EventJsonWriter::OnSwitch(const LevelChangeEvent& event) {
  line_.Begin(event.level < event.before ? "pause" : "resume", event);
  line_.AddText("level", LevelName(event.level));
  line_.AddText("before", LevelName(event.before));
  line_.End();
}

void EventJsonWriter::OnLost(const LostEvent& event) {
  line_.Begin("lost", event);
  line_.AddNumber("records", event.records);
  line_.AddNumber("chunks", event.chunks);
  line_.End();
}

void EventJsonWriter::OnKeyframe(const KeyframeEvent& event) {
  line_.Begin("keyframe", event);
  line_.AddBool("at_start", event.at_start);
  if (event.after_evicted) line_.AddBool("after_evicted", true);
  line_.End();
}

}  // namespace memoir
