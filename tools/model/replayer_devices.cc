// The part of a replay that follows devices with a caching allocator: segments, frees that complete later, statistics.
#include "tools/model/replayer.h"

namespace memoir {
namespace {

constexpr std::uint64_t kNoOrdinal = ~std::uint64_t{0};  // no tensor was seen on it

SegmentAction ActionOf(v1::EventKind kind) {
  switch (kind) {
    case v1::SEGMENT_FREE:
      return SegmentAction::kFree;
    case v1::SEGMENT_MAP:
      return SegmentAction::kMap;
    case v1::SEGMENT_UNMAP:
      return SegmentAction::kUnmap;
    case v1::SEGMENT_FOUND:
      return SegmentAction::kFound;
    default:
      return SegmentAction::kAllocate;
  }
}

}  // namespace

const DeviceMemory& Replayer::memory(DeviceId device) const {
  static const DeviceMemory none;
  if (device.value >= memories_.size() || memories_[device.value] == nullptr) return none;
  return *memories_[device.value];
}

void Replayer::NoteFinding(DeviceMemory& memory, ThreadId thread, bool found) {
  if (found) {
    memory.BeginFinding(thread.value);
  } else {
    memory.EndFinding(thread.value);
  }
}

DeviceMemory& Replayer::MemoryOf(DeviceId device) {
  if (device.value >= memories_.size()) memories_.resize(device.value + 1);
  if (memories_[device.value] == nullptr) memories_[device.value] = std::make_unique<DeviceMemory>();
  return *memories_[device.value];
}

void Replayer::TakePlace(RunCursor& cursor, Block& block) {
  Run& run = cursor.run;
  block.stream = cursor.stream += static_cast<std::uint64_t>(ZigZag(run.stream_delta.Next()));
  if (!cursor.no_pool_graph) block.pool_graph = run.pool_graph.Next32();
  if (!cursor.no_pool_user) block.pool_user = run.pool_user.Next32();
}

void Replayer::ShowDeviceEvent(ThreadReplay& thread, RunCursor& cursor) {
  switch (cursor.kind()) {
    case v1::DEALLOCATE_COMPLETED:
      return ShowFreeCompleted(thread, cursor);
    case v1::SEGMENT_ALLOCATE:
    case v1::SEGMENT_FREE:
    case v1::SEGMENT_MAP:
    case v1::SEGMENT_UNMAP:
    case v1::SEGMENT_FOUND:
      return ShowSegment(thread, cursor);
    case v1::OUT_OF_MEMORY:
      return ShowOutOfMemory(thread, cursor);
    case v1::DEVICE_STATISTICS:
      return ShowStatistics(thread, cursor);
    case v1::HOST_READING:
      return ShowHostReading(thread, cursor);
    default:
      return ShowDriverEvent(thread, cursor);
  }
}

void Replayer::ShowFreeCompleted(ThreadReplay& thread, RunCursor& cursor) {
  const Block at = BlockAt(thread, cursor);
  ShowFreeCompleted(thread, at.device, at.address, at.serial, cursor.tick);
}

void Replayer::ShowFreeCompleted(ThreadReplay& thread, DeviceId device, std::uint64_t address, std::uint64_t serial,
                                 Tick tick) {
  auto event = MakeEvent<FreeCompletedEvent>(process_, thread.id(), tick);
  event.device = device;
  event.address = address;
  auto freed = MemoryOf(device).CompleteFree(address, serial);
  if (!freed) {
    // Its request was lost: the block ends here.
    const Block* there = blocks_.live().Find(device, address);
    if (there == nullptr || there->serial > serial) return;
    Close(*there, thread.id(), tick, DeallocateCause::kRecorded, serial);
    freed = MemoryOf(device).CompleteFree(address, serial);
  }
  if (freed) event.bytes = freed->bytes;
  if (freed) event.requested_bytes = freed->requested;
  visitor_.OnFreeCompleted(event);
}

void Replayer::ShowSegment(ThreadReplay& thread, RunCursor& cursor) {
  Block segment = BlockAt(thread, cursor);
  segment.bytes = cursor.run.bytes.Next();
  TakePlace(cursor, segment);
  segment.slot = Block::kNoSlot;
  segment.ordinal = kNoOrdinal;
  auto event = MakeEvent<SegmentEvent>(process_, thread.id(), cursor.tick);
  event.action = ActionOf(cursor.kind());
  event.segment = &segment;
  DeviceMemory& memory = MemoryOf(segment.device);
  NoteFinding(memory, thread.id(), event.action == SegmentAction::kFound);
  if (event.action == SegmentAction::kFree || event.action == SegmentAction::kUnmap) {
    memory.RemoveSegment(segment.address, segment.bytes);
  } else {
    memory.AddSegment(segment.address,
                      {segment.bytes, segment.stream, segment.pool_graph, segment.pool_user,
                       DeviceMemory::IsSmallSegment(segment.bytes), event.action == SegmentAction::kMap});
  }
  visitor_.OnSegment(event);
}

void Replayer::ShowOutOfMemory(ThreadReplay& thread, RunCursor& cursor) {
  Block asked = BlockAt(thread, cursor);
  asked.address = 0;
  asked.bytes = asked.requested_bytes = cursor.run.bytes.Next();
  TakePlace(cursor, asked);
  asked.slot = Block::kNoSlot;
  asked.ordinal = kNoOrdinal;
  auto event = MakeEvent<OutOfMemoryEvent>(process_, thread.id(), cursor.tick);
  event.asked = &asked;
  event.stack = &WorkingThread(thread).stack();
  event.device_free = cursor.run.device_free.Next();
  const std::uint64_t limit = cursor.has_limit ? cursor.run.device_limit.Next() : 0;
  if (limit != 0) event.device_limit = limit - 1;
  MemoryOf(asked.device).CountOutOfMemory();
  NoteFinding(MemoryOf(asked.device), thread.id(), false);
  visitor_.OnOutOfMemory(event);
}

void Replayer::ShowStatistics(ThreadReplay& thread, RunCursor& cursor) {
  Run& run = cursor.run;
  auto event = MakeEvent<DeviceStatisticsEvent>(process_, thread.id(), cursor.tick);
  event.device = BlockAt(thread, cursor).device;
  event.allocated_bytes = run.statistic.Next();
  event.active_bytes = run.statistic.Next();
  event.reserved_bytes = run.statistic.Next();
  event.alloc_retries = run.statistic.Next();
  event.ooms = run.statistic.Next();
  DeviceMemory& memory = MemoryOf(event.device);
  memory.Count(event.alloc_retries, event.ooms);
  NoteFinding(memory, thread.id(), false);
  const bool same = memory.allocated().all == event.allocated_bytes && memory.active().all == event.active_bytes &&
                    memory.reserved().all == event.reserved_bytes;
  if (!same) ++report_->statistics_mismatches;
  visitor_.OnDeviceStatistics(event);
}

void Replayer::ApplySegments(const v1::Keyframe& keyframe) {
  for (const std::unique_ptr<DeviceMemory>& memory : memories_) {
    if (memory != nullptr) memory->ForgetSegments();
  }
  const v1::Segments& segments = keyframe.segments();
  const int count = segments.address_delta_size();
  if (segments.bytes_size() != count || segments.device_size() != count || segments.small_size() != count)
    return SayDamage("segments of a keyframe do not match");
  std::uint64_t address = 0;
  for (int i = 0; i < count; ++i) {
    address += static_cast<std::uint64_t>(segments.address_delta(i));
    ReservedPiece piece{.bytes = segments.bytes(i), .small = segments.small(i) != 0};
    // A keyframe may lack the columns that sums do not need.
    if (segments.stream_size() == count) piece.stream = segments.stream(i);
    if (segments.pool_graph_size() == count) piece.pool_graph = segments.pool_graph(i);
    if (segments.pool_user_size() == count) piece.pool_user = segments.pool_user(i);
    MemoryOf(ids_->device(segments.device(i))).AddSegment(address, piece);
  }
  for (const v1::DeviceTotals& totals : keyframe.devices()) {
    if (totals.reserved_bytes() == 0 && totals.peak_reserved_bytes() == 0) continue;
    MemoryOf(ids_->device(totals.device())).Count(totals.alloc_retries(), totals.ooms());
  }
}

void Replayer::ApplyFreeing(const v1::Keyframe& keyframe) {
  const v1::LiveBlocks& freeing = keyframe.freeing();
  const int count = freeing.address_delta_size();
  const bool match = freeing.bytes_size() == count && freeing.serial_delta_size() == count &&
                     (freeing.device_size() == 0 || freeing.device_size() == count);
  if (!match) return SayDamage("columns of a keyframe do not match");
  std::uint64_t address = 0, serial = 0;
  for (int i = 0; i < count; ++i) {
    address += static_cast<std::uint64_t>(freeing.address_delta(i));
    serial += static_cast<std::uint64_t>(freeing.serial_delta(i));
    DeviceMemory& memory = MemoryOf(ids_->device(freeing.device_size() == 0 ? 0 : freeing.device(i)));
    const std::uint64_t requested = freeing.requested_bytes_size() == count ? freeing.requested_bytes(i) : 0;
    memory.Allocate(freeing.bytes(i), requested);
    memory.RequestFree(address, freeing.bytes(i), requested, serial);
  }
}

}  // namespace memoir
