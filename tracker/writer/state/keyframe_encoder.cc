#include "tracker/writer/state/keyframe_encoder.h"

#include <protozero/pbf_writer.hpp>

#include "tracker/writer/events/capture_fields.h"

namespace memoir {
namespace {

using protozero::pbf_writer;

bool HasSums(const OperatorSums& sums) { return sums.count != 0 || sums.allocations != 0; }

// Returns the name id of an operator or a module; 0 if the ring's table has no name `operator_id`.
std::uint32_t OperatorName(Names& names, std::uint32_t operator_id) {
  const Names::Name* name = names.FindOperator(operator_id);
  return name == nullptr ? 0 : name->id;
}

// Returns `id`; 0 if the name was forgotten.
std::uint32_t LeafName(Names& names, std::uint32_t id) { return names.FindById(id) == nullptr ? 0 : id; }

void DefineName(Names& names, Names::Name* name, std::uint32_t part, std::string* payload) {
  if (name != nullptr) names.Define(name, part, payload);
}

void Define(const KeyframeSources& from, std::uint32_t part, std::string* payload) {
  from.names.DefineNotes(part, payload);  // the notes must precede the stacks that they describe
  const auto define = [&](const LiveBlock& block) {
    DefineName(from.names, from.names.FindById(block.leaf_name), part, payload);
    DefineName(from.names, from.names.FindOperator(block.operator_id), part, payload);
    DefineName(from.names, from.names.FindOperator(block.module), part, payload);
    from.threads.Define(block.thread, part, payload);
    from.stacks.Define(block.stack, part, from.names, payload);
    from.stacks.Define(block.forward_stack, part, from.names, payload);
  };
  from.memory.live().ForEach(define);
  from.memory.freeing().ForEach(define);
  from.driver.blocks().ForEach([&](const LiveBlock& block) {
    DefineName(from.names, from.names.FindById(block.leaf_name), part, payload);
    from.devices.Define(block.device, part, payload);
  });
  for (const auto& [device, readings] : from.driver.readings()) from.devices.Define(device, part, payload);
  for (const auto& [thread, state] : from.threads.states()) {
    if (state.ranges.depth() == 0 && state.modules.open().empty()) continue;
    from.threads.Define(thread, part, payload);
    for (const OpenRange& range : state.ranges.kept()) {
      DefineName(from.names, from.names.FindById(range.name), part, payload);
      DefineName(from.names, from.names.FindOperator(range.module), part, payload);
    }
    for (const CalledModule& module : state.modules.open())
      DefineName(from.names, from.names.FindOperator(module.module), part, payload);
  }
  for (std::uint32_t id = 0; id < from.memory.operators().size(); ++id) {
    if (HasSums(from.memory.operators()[id])) DefineName(from.names, from.names.FindOperator(id), part, payload);
  }
  for (std::uint32_t id = 1; id < from.memory.devices().size(); ++id) from.devices.Define(id, part, payload);
}

void AddDevice(pbf_writer& keyframe, std::uint32_t id, const DeviceSums& sums) {
  pbf_writer device(keyframe, field::keyframe::kDevices);
  device.add_uint32(field::device_totals::kDevice, id);
  device.add_uint64(field::device_totals::kLiveBytes, sums.live_bytes);
  device.add_uint64(field::device_totals::kLiveBlocks, sums.live_blocks);
  device.add_uint64(field::device_totals::kPeakBytes, sums.peak_bytes);
  device.add_uint64(field::device_totals::kPeakTick, sums.peak_tick);
  device.add_uint64(field::device_totals::kAllocatedBytes, sums.allocated_bytes);
  device.add_uint64(field::device_totals::kAllocations, sums.allocations);
  device.add_uint64(field::device_totals::kDeallocations, sums.deallocations);
  if (!sums.has_segments) return;
  device.add_uint64(field::device_totals::kActiveBytes, sums.live_bytes + sums.freeing_bytes);
  device.add_uint64(field::device_totals::kReservedBytes, sums.reserved_bytes);
  device.add_uint64(field::device_totals::kPeakActiveBytes, sums.peak_active_bytes);
  device.add_uint64(field::device_totals::kPeakReservedBytes, sums.peak_reserved_bytes);
  device.add_uint64(field::device_totals::kAllocRetries, sums.alloc_retries);
  device.add_uint64(field::device_totals::kOoms, sums.ooms);
}

// Writes one column directly into the message, because a separate copy of a column of all live blocks would take
// megabytes.
template <typename Value>
void AddColumn(const LiveBlockTable& blocks, pbf_writer& live, protozero::pbf_tag_type tag, Value value) {
  protozero::packed_field_uint64 column(live, tag);
  blocks.ForEach([&](const LiveBlock& block) { column.add_element(value(block)); });
}

template <typename Value>
void AddDeltas(const LiveBlockTable& blocks, pbf_writer& live, protozero::pbf_tag_type tag, Value value) {
  protozero::packed_field_sint64 column(live, tag);
  std::uint64_t before = 0;
  blocks.ForEach([&](const LiveBlock& block) {
    column.add_element(static_cast<std::int64_t>(value(block) - before));
    before = value(block);
  });
}

// Adds a column of stacks. A stack that the table no longer contains is written as 0.
template <typename Value>
void AddStacks(const LiveBlockTable& blocks, pbf_writer& live, protozero::pbf_tag_type tag, const StackTable& stacks,
               Value value) {
  bool any = false;
  blocks.ForEach([&](const LiveBlock& block) { any = any || stacks.Contains(value(block)); });
  if (!any) return;
  AddColumn(blocks, live, tag,
            [&](const LiveBlock& block) { return stacks.Contains(value(block)) ? value(block) : 0; });
}

void AddLive(pbf_writer& keyframe, std::uint32_t where, const LiveBlockTable& blocks, const KeyframeSources& from) {
  Names& names = from.names;
  if (blocks.size() == 0) return;
  pbf_writer live(keyframe, where);
  AddDeltas(blocks, live, field::live_blocks::kAddressDelta, [](const LiveBlock& block) { return block.address; });
  AddColumn(blocks, live, field::live_blocks::kBytes, [](const LiveBlock& block) { return block.bytes; });
  AddDeltas(blocks, live, field::live_blocks::kSerialDelta, [](const LiveBlock& block) { return block.serial; });
  bool any_device = false;
  blocks.ForEach([&](const LiveBlock& block) { any_device = any_device || block.device != 0; });
  if (any_device)
    AddColumn(blocks, live, field::live_blocks::kDevice, [](const LiveBlock& block) { return block.device; });
  AddDeltas(blocks, live, field::live_blocks::kTickDelta, [](const LiveBlock& block) { return block.tick; });
  AddColumn(blocks, live, field::live_blocks::kThread, [](const LiveBlock& block) { return block.thread; });
  AddColumn(blocks, live, field::live_blocks::kOperatorName,
            [&](const LiveBlock& block) { return OperatorName(names, block.operator_id); });
  AddColumn(blocks, live, field::live_blocks::kLeafName,
            [&](const LiveBlock& block) { return LeafName(names, block.leaf_name); });
  bool any_requested = false;
  blocks.ForEach([&](const LiveBlock& block) { any_requested = any_requested || block.requested != 0; });
  if (any_requested)
    AddColumn(blocks, live, field::live_blocks::kRequestedBytes,
              [](const LiveBlock& block) { return block.requested; });
  AddStacks(blocks, live, field::live_blocks::kStack, from.stacks, [](const LiveBlock& block) { return block.stack; });
  AddStacks(blocks, live, field::live_blocks::kForwardStack, from.stacks,
            [](const LiveBlock& block) { return block.forward_stack; });
  bool any_place = false;
  blocks.ForEach([&](const LiveBlock& block) { any_place = any_place || block.place != 0; });
  if (!any_place) return;
  AddColumn(blocks, live, field::live_blocks::kModule,
            [&](const LiveBlock& block) { return OperatorName(names, block.module); });
  AddColumn(blocks, live, field::live_blocks::kPlace, [](const LiveBlock& block) { return block.place; });
}

template <typename Value>
void AddSegmentColumn(const SegmentTable& table, pbf_writer& segments, protozero::pbf_tag_type tag, Value value) {
  protozero::packed_field_uint64 column(segments, tag);
  table.ForEach([&](const ReservedSegment& segment) { column.add_element(value(segment)); });
}

void AddSegments(pbf_writer& keyframe, const SegmentTable& table) {
  if (table.size() == 0) return;
  pbf_writer segments(keyframe, field::keyframe::kSegments);
  {
    protozero::packed_field_sint64 column(segments, field::segments::kAddressDelta);
    std::uint64_t before = 0;
    table.ForEach([&](const ReservedSegment& segment) {
      column.add_element(static_cast<std::int64_t>(segment.address - before));
      before = segment.address;
    });
  }
  AddSegmentColumn(table, segments, field::segments::kBytes, [](const ReservedSegment& s) { return s.bytes; });
  AddSegmentColumn(table, segments, field::segments::kDevice, [](const ReservedSegment& s) { return s.device; });
  AddSegmentColumn(table, segments, field::segments::kStream, [](const ReservedSegment& s) { return s.place.stream; });
  AddSegmentColumn(table, segments, field::segments::kPoolGraph,
                   [](const ReservedSegment& s) { return s.place.pool_graph; });
  AddSegmentColumn(table, segments, field::segments::kPoolUser,
                   [](const ReservedSegment& s) { return s.place.pool_user; });
  AddSegmentColumn(table, segments, field::segments::kSmall,
                   [](const ReservedSegment& s) { return s.small ? 1u : 0u; });
}

void AddDriver(pbf_writer& keyframe, const LiveBlockTable& blocks, Names& names) {
  if (blocks.size() == 0) return;
  pbf_writer driver(keyframe, field::keyframe::kDriver);
  namespace to = field::driver_blocks;
  AddDeltas(blocks, driver, to::kAddressDelta, [](const LiveBlock& block) { return block.address; });
  AddColumn(blocks, driver, to::kBytes, [](const LiveBlock& block) { return block.bytes; });
  AddColumn(blocks, driver, to::kDevice, [](const LiveBlock& block) { return block.device; });
  AddDeltas(blocks, driver, to::kSerialDelta, [](const LiveBlock& block) { return block.serial; });
  AddDeltas(blocks, driver, to::kTickDelta, [](const LiveBlock& block) { return block.tick; });
  AddColumn(blocks, driver, to::kDriverCall, [](const LiveBlock& block) { return block.place; });
  AddColumn(blocks, driver, to::kLibrary, [&](const LiveBlock& block) { return LeafName(names, block.leaf_name); });
}

void AddReading(pbf_writer& keyframe, std::uint32_t device, const DeviceReading& at) {
  pbf_writer reading(keyframe, field::keyframe::kReadings);
  reading.add_uint32(field::device_reading::kDevice, device);
  reading.add_uint64(field::device_reading::kTick, at.tick);
  reading.add_enum(field::device_reading::kCause, at.cause);
  reading.add_uint64(field::device_reading::kFreeBytes, at.free_bytes + 1);
  reading.add_uint64(field::device_reading::kTotalBytes, at.total_bytes + 1);
  reading.add_uint64(field::device_reading::kProcessBytes, at.process_bytes + 1);
  reading.add_uint64(field::device_reading::kOtherProcessesBytes, at.other_processes_bytes + 1);
  reading.add_uint64(field::device_reading::kPoolBytes, at.pool_bytes + 1);
}

// Adds the first sample of a device, the sample with the least free bytes, and the newest sample. A sample that is two
// or all of these is added once.
void AddReadings(pbf_writer& keyframe, std::uint32_t device, const DeviceReadings& of) {
  AddReading(keyframe, device, of.first);
  const bool least_is_last = of.least_free.serial == of.newest.serial;
  if (of.least_free.serial != of.first.serial && !least_is_last) AddReading(keyframe, device, of.least_free);
  if (of.newest.serial != of.first.serial) AddReading(keyframe, device, of.newest);
}

void AddOpen(pbf_writer& keyframe, const ThreadState& state, Names& names) {
  pbf_writer open(keyframe, field::keyframe::kOpen);
  open.add_uint32(field::open_ranges::kThread, state.thread);
  std::string kinds;
  for (const OpenRange& range : state.ranges.kept()) kinds.push_back(static_cast<char>(range.kind));
  open.add_bytes(field::open_ranges::kKind, kinds);
  {
    protozero::packed_field_uint32 name(open, field::open_ranges::kName);
    for (const OpenRange& range : state.ranges.kept()) name.add_element(LeafName(names, range.name));
  }
  {
    protozero::packed_field_uint64 begin_tick(open, field::open_ranges::kBeginTick);
    for (const OpenRange& range : state.ranges.kept()) begin_tick.add_element(range.begin_tick);
  }
  protozero::packed_field_uint32 module(open, field::open_ranges::kModule);
  for (const OpenRange& range : state.ranges.kept()) module.add_element(OperatorName(names, range.module));
}

void AddOpenModules(pbf_writer& keyframe, const ThreadState& state, Names& names) {
  pbf_writer open(keyframe, field::keyframe::kOpenModules);
  open.add_uint32(field::open_modules::kThread, state.thread);
  {
    protozero::packed_field_uint32 module(open, field::open_modules::kModule);
    for (const CalledModule& called : state.modules.open()) module.add_element(OperatorName(names, called.module));
  }
  {
    protozero::packed_field_uint64 depth(open, field::open_modules::kDepth);
    for (const CalledModule& called : state.modules.open()) depth.add_element(called.depth);
  }
  protozero::packed_field_uint32 recompute(open, field::open_modules::kRecompute);
  for (const CalledModule& called : state.modules.open()) recompute.add_element(called.recompute ? 1 : 0);
}

void AddOperator(pbf_writer& keyframe, std::uint32_t name, const OperatorSums& sums) {
  pbf_writer totals(keyframe, field::keyframe::kOperators);
  totals.add_uint32(field::operator_totals::kName, name);
  totals.add_uint64(field::operator_totals::kCount, sums.count);
  totals.add_uint64(field::operator_totals::kOutermostCount, sums.outermost_count);
  totals.add_uint64(field::operator_totals::kAllocations, sums.allocations);
  totals.add_uint64(field::operator_totals::kAllocatedBytes, sums.allocated_bytes);
  totals.add_uint64(field::operator_totals::kDeallocatedBytes, sums.deallocated_bytes);
}

}  // namespace

void EncodeKeyframe(const KeyframeSources& from, std::uint32_t part, std::uint64_t tick, std::uint64_t events_before,
                    std::string* payload) {
  Define(from, part, payload);
  pbf_writer message(*payload);
  pbf_writer keyframe(message, field::payload::kKeyframe);
  keyframe.add_uint64(field::keyframe::kTick, tick);
  keyframe.add_uint64(field::keyframe::kEventsBefore, events_before);
  const auto& devices = from.memory.devices();
  for (std::uint32_t id = 0; id < devices.size(); ++id) AddDevice(keyframe, id, devices[id]);
  AddLive(keyframe, field::keyframe::kLive, from.memory.live(), from);
  AddLive(keyframe, field::keyframe::kFreeing, from.memory.freeing(), from);
  AddSegments(keyframe, from.memory.segments());
  AddDriver(keyframe, from.driver.blocks(), from.names);
  for (const auto& [device, readings] : from.driver.readings()) AddReadings(keyframe, device, readings);
  for (const HostReading& reading : from.host.kept()) AddHostReading(reading, field::keyframe::kHost, &keyframe);
  for (const auto& [thread, state] : from.threads.states()) {
    if (state.ranges.depth() != 0) AddOpen(keyframe, state, from.names);
    if (!state.modules.open().empty()) AddOpenModules(keyframe, state, from.names);
  }
  const auto& operators = from.memory.operators();
  for (std::uint32_t id = 0; id < operators.size(); ++id) {
    if (HasSums(operators[id])) AddOperator(keyframe, OperatorName(from.names, id), operators[id]);
  }
  if (from.memory.live().untracked() + from.driver.blocks().untracked() != 0)
    keyframe.add_bool(field::keyframe::kIncomplete, true);
  if (from.level != RecordingLevel::kAll) keyframe.add_bool(field::keyframe::kRangesOff, true);
  if (from.level == RecordingLevel::kOff) keyframe.add_bool(field::keyframe::kMemoryOff, true);
}

}  // namespace memoir
