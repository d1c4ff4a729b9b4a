#include "tools/model/replay/events/driver_events.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/model/replay/events/recorded_numbers.h"

namespace memoir {
namespace {

constexpr std::uint64_t kNotKnown = ~std::uint64_t{0};

v1::DriverCall CallOf(std::uint32_t number) {
  return v1::DriverCall_IsValid(static_cast<int>(number)) ? static_cast<v1::DriverCall>(number)
                                                          : v1::DRIVER_CALL_UNKNOWN;
}

}  // namespace

DriverBlock DriverEvents::Decode(const ThreadReplay& thread, RunCursor& cursor) {
  const Block at = decoder_.Decode(thread, cursor);
  DriverBlock block;
  block.address = at.address;
  block.serial = at.serial;
  block.tick = at.tick;
  block.device = at.device;
  block.thread = at.thread;
  block.operator_name = at.operator_name;
  block.user_name = at.user_name;
  block.module = at.module;
  block.phase = at.phase;
  return block;
}

void DriverEvents::ShowAllocate(ThreadReplay& thread, RunCursor& cursor) {
  DriverBlock block = Decode(thread, cursor);
  block.bytes = cursor.run.bytes.Next();
  block.call = CallOf(cursor.run.driver_call.Next32());
  block.library = context_.ids().name(cursor.run.library.Next32()).id;
  driver_.Allocate(block);
  auto event = context_.MakeEvent<DriverAllocateEvent>(thread.id(), cursor.tick);
  event.block = &block;
  context_.visitor().OnDriverAllocate(event);
}

void DriverEvents::ShowFree(ThreadReplay& thread, RunCursor& cursor) {
  const DriverBlock at = Decode(thread, cursor);
  const std::optional<DriverBlock> freed = driver_.Free(at.device, at.address, at.serial);
  auto event = context_.MakeEvent<DriverFreeEvent>(thread.id(), cursor.tick);
  event.device = at.device;
  event.address = at.address;
  event.serial = at.serial;
  event.block = freed ? &*freed : nullptr;
  context_.visitor().OnDriverFree(event);
}

void DriverEvents::ShowRefused(ThreadReplay& thread, RunCursor& cursor) {
  DriverBlock asked = Decode(thread, cursor);
  asked.address = 0;
  asked.bytes = cursor.run.bytes.Next();
  auto event = context_.MakeEvent<DriverRefusedEvent>(thread.id(), cursor.tick);
  const std::uint64_t device_free = cursor.run.device_free.Next();
  if (device_free != kNotKnown) event.device_free = device_free;
  asked.call = CallOf(cursor.run.driver_call.Next32());
  asked.library = context_.ids().name(cursor.run.library.Next32()).id;
  event.error = cursor.run.driver_error.Next32();
  event.asked = &asked;
  context_.visitor().OnDriverRefused(event);
}

void DriverEvents::ShowSample(ThreadReplay& thread, RunCursor& cursor) {
  Run& run = cursor.run;
  auto event = context_.MakeEvent<DeviceSampleEvent>(thread.id(), cursor.tick);
  event.device = Decode(thread, cursor).device;
  memories_.NoteFinding(event.device, thread.id(), false);
  event.cause = ReadingCauseOf(run.reading_cause.Next32());
  event.free_bytes = KnownNumber(run.reading.Next());
  event.total_bytes = KnownNumber(run.reading.Next());
  event.process_bytes = KnownNumber(run.reading.Next());
  event.other_processes_bytes = KnownNumber(run.reading.Next());
  event.pool_bytes = KnownNumber(run.reading.Next());
  context_.visitor().OnDeviceSample(event);
}

void DriverEvents::ApplyKeyframe(const v1::Keyframe& keyframe) {
  const v1::DriverBlocks& blocks = keyframe.driver();
  const int count = blocks.address_delta_size();
  if (blocks.bytes_size() != count || blocks.device_size() != count || blocks.serial_delta_size() != count ||
      blocks.tick_delta_size() != count || blocks.driver_call_size() != count || blocks.library_size() != count)
    return context_.ReportDamage("driver blocks of a keyframe do not match");
  std::vector<DriverBlock> live;
  DriverBlock block;
  block.origin = BlockOrigin::kKeyframe;
  for (int i = 0; i < count; ++i) {
    block.address += static_cast<std::uint64_t>(blocks.address_delta(i));
    block.serial += static_cast<std::uint64_t>(blocks.serial_delta(i));
    block.tick += static_cast<std::uint64_t>(blocks.tick_delta(i));
    block.bytes = blocks.bytes(i);
    block.device = context_.ids().device(blocks.device(i));
    block.call = CallOf(blocks.driver_call(i));
    block.library = context_.ids().name(blocks.library(i)).id;
    live.push_back(block);
  }
  driver_.Replace(live, !keyframe.incomplete());
}

void DriverEvents::ShowSamplesOfKeyframe(const v1::Keyframe& keyframe) {
  for (const v1::DeviceReading& reading : keyframe.readings()) {
    auto event = context_.MakeEvent<DeviceSampleEvent>(ThreadId(), reading.tick());
    event.before = true;
    event.device = context_.ids().device(reading.device());
    event.cause = reading.cause();
    event.free_bytes = KnownNumber(reading.free_bytes());
    event.total_bytes = KnownNumber(reading.total_bytes());
    event.process_bytes = KnownNumber(reading.process_bytes());
    event.other_processes_bytes = KnownNumber(reading.other_processes_bytes());
    event.pool_bytes = KnownNumber(reading.pool_bytes());
    context_.visitor().OnDeviceSample(event);
  }
}

}  // namespace memoir
