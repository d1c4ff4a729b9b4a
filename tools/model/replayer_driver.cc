// The part of a replay that follows what the driver gives: blocks, refusals, readings of devices.
#include "tools/model/replayer.h"

namespace memoir {
namespace {

constexpr std::uint64_t kNotKnown = ~std::uint64_t{0};

v1::DriverCall CallOf(std::uint32_t number) {
  return v1::DriverCall_IsValid(static_cast<int>(number)) ? static_cast<v1::DriverCall>(number)
                                                          : v1::DRIVER_CALL_UNKNOWN;
}

v1::ReadingCause CauseOf(std::uint32_t number) {
  return v1::ReadingCause_IsValid(static_cast<int>(number)) ? static_cast<v1::ReadingCause>(number)
                                                            : v1::READING_CAUSE_UNKNOWN;
}

// As a capture has it: plus 1; 0 is not known.
std::optional<std::uint64_t> Known(std::uint64_t plus_one) {
  return plus_one == 0 ? std::nullopt : std::optional(plus_one - 1);
}

}  // namespace

void Replayer::ShowDriverEvent(ThreadReplay& thread, RunCursor& cursor) {
  switch (cursor.kind()) {
    case v1::DRIVER_ALLOCATE:
      return ShowDriverAllocate(thread, cursor);
    case v1::DRIVER_FREE:
      return ShowDriverFree(thread, cursor);
    case v1::DRIVER_REFUSED:
      return ShowDriverRefused(thread, cursor);
    case v1::DEVICE_READING:
      return ShowDeviceReading(thread, cursor);
    default:
      return;  // ParsePayload lets no other kind through
  }
}

DriverBlock Replayer::DriverBlockAt(ThreadReplay& thread, RunCursor& cursor) {
  const Block at = BlockAt(thread, cursor);
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

void Replayer::ShowDriverAllocate(ThreadReplay& thread, RunCursor& cursor) {
  DriverBlock block = DriverBlockAt(thread, cursor);
  block.bytes = cursor.run.bytes.Next();
  block.call = CallOf(cursor.run.driver_call.Next32());
  block.library = ids_->name(cursor.run.library.Next32()).id;
  driver_.Allocate(block);
  auto event = MakeEvent<DriverAllocateEvent>(process_, thread.id(), cursor.tick);
  event.block = &block;
  visitor_.OnDriverAllocate(event);
}

void Replayer::ShowDriverFree(ThreadReplay& thread, RunCursor& cursor) {
  const DriverBlock at = DriverBlockAt(thread, cursor);
  const std::optional<DriverBlock> freed = driver_.Free(at.device, at.address, at.serial);
  auto event = MakeEvent<DriverFreeEvent>(process_, thread.id(), cursor.tick);
  event.device = at.device;
  event.address = at.address;
  event.serial = at.serial;
  event.block = freed ? &*freed : nullptr;
  visitor_.OnDriverFree(event);
}

void Replayer::ShowDriverRefused(ThreadReplay& thread, RunCursor& cursor) {
  DriverBlock asked = DriverBlockAt(thread, cursor);
  asked.address = 0;
  asked.bytes = cursor.run.bytes.Next();
  auto event = MakeEvent<DriverRefusedEvent>(process_, thread.id(), cursor.tick);
  const std::uint64_t device_free = cursor.run.device_free.Next();
  if (device_free != kNotKnown) event.device_free = device_free;
  asked.call = CallOf(cursor.run.driver_call.Next32());
  asked.library = ids_->name(cursor.run.library.Next32()).id;
  event.error = cursor.run.driver_error.Next32();
  event.asked = &asked;
  visitor_.OnDriverRefused(event);
}

void Replayer::ShowDeviceReading(ThreadReplay& thread, RunCursor& cursor) {
  Run& run = cursor.run;
  auto event = MakeEvent<DeviceReadingEvent>(process_, thread.id(), cursor.tick);
  event.device = DriverBlockAt(thread, cursor).device;
  NoteFinding(MemoryOf(event.device), thread.id(), false);
  event.cause = CauseOf(run.reading_cause.Next32());
  event.free_bytes = Known(run.reading.Next());
  event.total_bytes = Known(run.reading.Next());
  event.process_bytes = Known(run.reading.Next());
  event.other_processes_bytes = Known(run.reading.Next());
  event.pool_bytes = Known(run.reading.Next());
  visitor_.OnDeviceReading(event);
}

void Replayer::ApplyDriver(const v1::Keyframe& keyframe) {
  const v1::DriverBlocks& blocks = keyframe.driver();
  const int count = blocks.address_delta_size();
  if (blocks.bytes_size() != count || blocks.device_size() != count || blocks.serial_delta_size() != count ||
      blocks.tick_delta_size() != count || blocks.driver_call_size() != count || blocks.library_size() != count)
    return SayDamage("driver blocks of a keyframe do not match");
  std::vector<DriverBlock> live;
  DriverBlock block;
  block.origin = BlockOrigin::kKeyframe;
  for (int i = 0; i < count; ++i) {
    block.address += static_cast<std::uint64_t>(blocks.address_delta(i));
    block.serial += static_cast<std::uint64_t>(blocks.serial_delta(i));
    block.tick += static_cast<std::uint64_t>(blocks.tick_delta(i));
    block.bytes = blocks.bytes(i);
    block.device = ids_->device(blocks.device(i));
    block.call = CallOf(blocks.driver_call(i));
    block.library = ids_->name(blocks.library(i)).id;
    live.push_back(block);
  }
  driver_.Replace(live, !keyframe.incomplete());
}

// Those of parts that are gone; a replay that goes on after a loss has shown its own.
void Replayer::ShowReadings(const v1::Keyframe& keyframe) {
  for (const v1::DeviceReading& reading : keyframe.readings()) {
    auto event = MakeEvent<DeviceReadingEvent>(process_, ThreadId(), reading.tick());
    event.before = true;
    event.device = ids_->device(reading.device());
    event.cause = reading.cause();
    event.free_bytes = Known(reading.free_bytes());
    event.total_bytes = Known(reading.total_bytes());
    event.process_bytes = Known(reading.process_bytes());
    event.other_processes_bytes = Known(reading.other_processes_bytes());
    event.pool_bytes = Known(reading.pool_bytes());
    visitor_.OnDeviceReading(event);
  }
}

}  // namespace memoir
