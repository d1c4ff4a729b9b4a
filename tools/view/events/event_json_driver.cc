// Events of driver allocations, as JSON lines.
#include "tools/view/events/event_json.h"

namespace memoir {

void EventJsonWriter::AddKnown(std::string_view key, const std::optional<std::uint64_t>& number) {
  if (number) return AddNumber(key, *number);
  lines_.append(",\"").append(key).append("\":null");
}

void EventJsonWriter::AddDriverBlock(const DriverBlock& block) {
  AddText("device", ToString(state_->dictionary().device(block.device)));
  if (block.address != 0) AddAddress("address", block.address);
  AddNumber("bytes", block.bytes);
  AddText("call", ToString(block.call));
  AddName("library", block.library);
  AddNumber("serial", block.serial);
  AddName("operator", block.operator_name);
  AddName("range", block.user_name);
  if (block.origin == BlockOrigin::kRecorded) AddModule(block.module, block.phase);
}

void EventJsonWriter::OnDriverAllocate(const DriverAllocateEvent& event) {
  Begin("driver_allocate", event);
  AddDriverBlock(*event.block);
  End();
}

void EventJsonWriter::OnDriverFree(const DriverFreeEvent& event) {
  Begin("driver_free", event);
  AddText("device", ToString(state_->dictionary().device(event.device)));
  AddAddress("address", event.address);
  AddNumber("serial", event.serial);
  AddKnown("bytes", event.block == nullptr ? std::nullopt : std::optional(event.block->bytes));
  if (event.block != nullptr) AddText("call", ToString(event.block->call));
  if (event.block != nullptr) AddName("library", event.block->library);
  End();
}

void EventJsonWriter::OnDriverRefused(const DriverRefusedEvent& event) {
  Begin("driver_refused", event);
  AddDriverBlock(*event.asked);
  AddNumber("error", event.error);
  AddKnown("device_free_bytes", event.device_free);
  End();
}

void EventJsonWriter::OnDeviceSample(const DeviceSampleEvent& event) {
  Begin("device_reading", event);
  AddText("device", ToString(state_->dictionary().device(event.device)));
  AddText("cause", ToString(event.cause));
  AddKnown("free_bytes", event.free_bytes);
  AddKnown("total_bytes", event.total_bytes);
  AddKnown("process_bytes", event.process_bytes);
  AddKnown("other_processes_bytes", event.other_processes_bytes);
  AddKnown("pool_bytes", event.pool_bytes);
  if (event.before) lines_ += R"(,"from_keyframe":true)";
  End();
}

void EventJsonWriter::OnHostReading(const HostReadingEvent& event) {
  Begin("host_reading", event);
  AddText("cause", ToString(event.cause));
  AddKnown("anonymous_bytes", event.numbers.anonymous_bytes);
  AddKnown("shared_bytes", event.numbers.shared_bytes);
  AddKnown("file_bytes", event.numbers.file_bytes);
  AddKnown("swap_bytes", event.numbers.swap_bytes);
  AddKnown("proportional_bytes", event.numbers.proportional_bytes);
  AddKnown("malloc_used_bytes", event.numbers.malloc_used_bytes);
  AddKnown("malloc_free_bytes", event.numbers.malloc_free_bytes);
  AddKnown("children", event.numbers.children);
  AddKnown("children_bytes", event.numbers.children_bytes);
  AddKnown("group_id", event.numbers.group_id);
  AddKnown("group_used_bytes", event.numbers.group_used_bytes);
  AddKnown("group_limit_bytes", event.numbers.group_limit_bytes);
  AddKnown("group_reclaimable_bytes", event.numbers.group_reclaimable_bytes);
  AddKnown("group_shared_bytes", event.numbers.group_shared_bytes);
  AddKnown("group_kills", event.numbers.group_kills);
  AddKnown("machine_bytes", event.numbers.machine_bytes);
  AddKnown("machine_available_bytes", event.numbers.machine_available_bytes);
  AddKnown("machine_kills", event.numbers.machine_kills);
  if (event.before) lines_ += R"(,"from_keyframe":true)";
  End();
}

}  // namespace memoir
