#include "tools/model/replay/events/allocator_events.h"

namespace memoir {
namespace {

constexpr std::uint64_t kNoOrdinal = ~std::uint64_t{0};  // the ordinal of segments and refused requests

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

void AllocatorEvents::ShowFreeCompleted(ThreadReplay& thread, RunCursor& cursor) {
  const Block at = decoder_.Decode(thread, cursor);
  CompleteFree(thread.id(), at.device, at.address, at.serial, cursor.tick);
}

void AllocatorEvents::CompleteFree(ThreadId thread, DeviceId device, std::uint64_t address, std::uint64_t serial,
                                   Tick tick) {
  auto event = context_.MakeEvent<FreeCompletedEvent>(thread, tick);
  event.device = device;
  event.address = address;
  auto freed = memories_.Of(device).CompleteFree(address, serial);
  if (!freed) {
    // The record of the free request was lost, so the block ends here.
    const Block* there = blocks_.Find(device, address);
    if (there == nullptr || there->serial > serial) return;
    blocks_.Close(*there, thread, tick, DeallocateCause::kRecorded, serial);
    freed = memories_.Of(device).CompleteFree(address, serial);
  }
  if (freed) event.bytes = freed->bytes;
  if (freed) event.requested_bytes = freed->requested;
  context_.visitor().OnFreeCompleted(event);
}

void AllocatorEvents::ShowSegment(ThreadReplay& thread, RunCursor& cursor) {
  Block segment = decoder_.Decode(thread, cursor);
  segment.bytes = cursor.run.bytes.Next();
  BlockDecoder::DecodeStreamAndPool(cursor, segment);
  segment.slot = Block::kNoSlot;
  segment.ordinal = kNoOrdinal;
  auto event = context_.MakeEvent<SegmentEvent>(thread.id(), cursor.tick);
  event.action = ActionOf(cursor.kind());
  event.segment = &segment;
  memories_.NoteFinding(segment.device, thread.id(), event.action == SegmentAction::kFound);
  DeviceMemory& memory = memories_.Of(segment.device);
  if (event.action == SegmentAction::kFree || event.action == SegmentAction::kUnmap) {
    memory.RemoveSegment(segment.address, segment.bytes);
  } else {
    memory.AddSegment(segment.address,
                      {segment.bytes, segment.stream, segment.pool_graph, segment.pool_user,
                       DeviceMemory::IsSmallSegment(segment.bytes), event.action == SegmentAction::kMap});
  }
  context_.visitor().OnSegment(event);
}

void AllocatorEvents::ShowOutOfMemory(ThreadReplay& thread, RunCursor& cursor) {
  Block asked = decoder_.Decode(thread, cursor);
  asked.address = 0;
  asked.bytes = asked.requested_bytes = cursor.run.bytes.Next();
  BlockDecoder::DecodeStreamAndPool(cursor, asked);
  asked.slot = Block::kNoSlot;
  asked.ordinal = kNoOrdinal;
  auto event = context_.MakeEvent<OutOfMemoryEvent>(thread.id(), cursor.tick);
  event.asked = &asked;
  event.stack = &threads_.Working(thread).stack();
  event.device_free = cursor.run.device_free.Next();
  const std::uint64_t limit = cursor.run.device_limit.Next();
  if (limit != 0) event.device_limit = limit - 1;
  memories_.Of(asked.device).CountOutOfMemory();
  memories_.NoteFinding(asked.device, thread.id(), false);
  context_.visitor().OnOutOfMemory(event);
}

void AllocatorEvents::ShowStatistics(ThreadReplay& thread, RunCursor& cursor) {
  Run& run = cursor.run;
  auto event = context_.MakeEvent<DeviceStatisticsEvent>(thread.id(), cursor.tick);
  event.device = decoder_.Decode(thread, cursor).device;
  event.allocated_bytes = run.statistic.Next();
  event.active_bytes = run.statistic.Next();
  event.reserved_bytes = run.statistic.Next();
  event.alloc_retries = run.statistic.Next();
  event.ooms = run.statistic.Next();
  DeviceMemory& memory = memories_.Of(event.device);
  memory.SetCounters(event.alloc_retries, event.ooms);
  memories_.NoteFinding(event.device, thread.id(), false);
  const bool same = memory.allocated().all == event.allocated_bytes && memory.active().all == event.active_bytes &&
                    memory.reserved().all == event.reserved_bytes;
  if (!same) ++context_.report().statistics_mismatches;
  context_.visitor().OnDeviceStatistics(event);
}

void AllocatorEvents::ApplySegments(const v1::Keyframe& keyframe) {
  memories_.ForgetSegments();
  const v1::Segments& segments = keyframe.segments();
  const int count = segments.address_delta_size();
  if (segments.bytes_size() != count || segments.device_size() != count || segments.small_size() != count)
    return context_.ReportDamage("segments of a keyframe do not match");
  std::uint64_t address = 0;
  for (int i = 0; i < count; ++i) {
    address += static_cast<std::uint64_t>(segments.address_delta(i));
    ReservedPiece piece{.bytes = segments.bytes(i), .small = segments.small(i) != 0};
    // The keyframe of an early version may lack these columns.
    if (segments.stream_size() == count) piece.stream = segments.stream(i);
    if (segments.pool_graph_size() == count) piece.pool_graph = segments.pool_graph(i);
    if (segments.pool_user_size() == count) piece.pool_user = segments.pool_user(i);
    memories_.Of(context_.ids().device(segments.device(i))).AddSegment(address, piece);
  }
  for (const v1::DeviceTotals& totals : keyframe.devices()) {
    if (totals.reserved_bytes() == 0 && totals.peak_reserved_bytes() == 0) continue;
    memories_.Of(context_.ids().device(totals.device())).SetCounters(totals.alloc_retries(), totals.ooms());
  }
}

void AllocatorEvents::ApplyPendingFrees(const v1::Keyframe& keyframe) {
  const v1::LiveBlocks& freeing = keyframe.freeing();
  const int count = freeing.address_delta_size();
  const bool match = freeing.bytes_size() == count && freeing.serial_delta_size() == count &&
                     (freeing.device_size() == 0 || freeing.device_size() == count);
  if (!match) return context_.ReportDamage("columns of a keyframe do not match");
  std::uint64_t address = 0, serial = 0;
  for (int i = 0; i < count; ++i) {
    address += static_cast<std::uint64_t>(freeing.address_delta(i));
    serial += static_cast<std::uint64_t>(freeing.serial_delta(i));
    DeviceMemory& memory = memories_.Of(context_.ids().device(freeing.device_size() == 0 ? 0 : freeing.device(i)));
    const std::uint64_t requested = freeing.requested_bytes_size() == count ? freeing.requested_bytes(i) : 0;
    memory.Allocate(freeing.bytes(i), requested);
    memory.RequestFree(address, freeing.bytes(i), requested, serial);
  }
}

}  // namespace memoir
