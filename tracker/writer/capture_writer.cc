#include "tracker/writer/capture_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <protozero/pbf_writer.hpp>

#include "interpose/system/tick.h"
#include "tracker/writer/events/capture_fields.h"
#include "tracker/writer/file/end_message.h"
#include "tracker/writer/file/ring_clock.h"

namespace memoir {
namespace {

constexpr std::size_t kChunkBytes = 512 * 1024;
constexpr std::size_t kMinChunkBytes = 4 * 1024;
constexpr std::uint64_t kMinKeyframeDistance = 16u << 20;
// The index of a part stays in memory until the part is closed, so the number of chunks is limited.
constexpr std::uint64_t kMaxPartChunks = 32 * 1024;
constexpr std::size_t kMaxKeptBytes = 2u << 20;
// Approximate bytes of a chunk's header, clock and counters, which are added after MakeRoom.
constexpr std::size_t kCountersBytes = 512;

std::uint64_t PartBytes(const CaptureOptions& options) {
  const std::uint64_t part = options.part_bytes == 0 ? kDefaultPartBytes : options.part_bytes;
  return options.max_bytes == 0 ? part : std::min(part, options.max_bytes / 5);
}

void AddCounters(protozero::pbf_writer& payload, const RingCounters& ring, const WriterStatus& status) {
  protozero::pbf_writer counters(payload, field::payload::kCounters);
  counters.add_uint64(field::counters::kDroppedRecords, ring.dropped_records);
  counters.add_uint64(field::counters::kDroppedAllocatedBytes, ring.dropped_allocated_bytes);
  counters.add_uint64(field::counters::kWaits, ring.waits);
  counters.add_uint64(field::counters::kWaitNs, ring.wait_ns);
  counters.add_uint64(field::counters::kLostEvents, status.lost_events);
  counters.add_uint64(field::counters::kLostChunks, status.lost_chunks);
  if (!status.last_write_error.empty()) counters.add_string(field::counters::kLastWriteError, status.last_write_error);
  counters.add_uint64(field::counters::kFoldedEvents, status.folded_events);
  counters.add_uint64(field::counters::kFoldedParts, status.folded_parts);
  counters.add_uint64(field::counters::kUntrackedBlocks, status.untracked_blocks);
  counters.add_uint64(field::counters::kSlotlessRecords, ring.slotless_records);
  counters.add_uint64(field::counters::kForkedChildren, ring.forked_children);
  if (ring.cut_stacks != 0) counters.add_uint64(field::counters::kCutStacks, ring.cut_stacks);
  if (ring.unread_stacks != 0) counters.add_uint64(field::counters::kUnreadStacks, ring.unread_stacks);
  if (ring.deep_calls != 0) counters.add_uint64(field::counters::kDeepCalls, ring.deep_calls);
}

}  // namespace

CaptureWriter::CaptureWriter(const CaptureOptions& options, const RingReader& ring, ChunkBuilder* builder)
    : options_(options),
      ring_(ring),
      builder_(*builder),
      sink_(options.folder, options.stem, options.max_bytes, options.first_part),
      snapshots_(builder),
      frame_(RecordingIdOf(options.process_info)),
      chunk_bytes_(std::clamp<std::size_t>(PartBytes(options) / 16, kMinChunkBytes, kChunkBytes)),
      sequence_(options.first_sequence) {
  options_.part_bytes = PartBytes(options);
}

void CaptureWriter::Prepare() {
  if (sink_.WasRemoved()) LosePart();
  if (sink_.is_open() && PartIsFull()) LeaveFullPart();
  if (!sink_.is_open()) {
    if (MonotonicNs() >= retry_at_ns_ && !OpenPart()) RetryLater();
  } else if (KeyframeIsDue()) {
    WriteKeyframe();
  }
}

// Creates the next part before the full part is closed. If no part can be created any more (for example, because the
// process gave up its rights by setuid), chunks are still appended to the full part.
void CaptureWriter::LeaveFullPart() {
  if (MonotonicNs() < retry_at_ns_) return;
  no_next_part_ = !sink_.PrepareNext();
  if (no_next_part_) {
    RetryLater();
  } else {
    ClosePart();
  }
}

// Returns true if the open part alone is larger than the size limit, because no next part could be created.
bool CaptureWriter::IsNearSizeCap() const {
  return no_next_part_ && options_.max_bytes != 0 && sink_.part_bytes() > options_.max_bytes;
}

bool CaptureWriter::OpenPart() {
  if (!sink_.Open()) return false;
  builder_.SetPart(++part_);
  if (part_ > 1) ring_.CountPart();
  pending_process_ = AddPartNumber(options_.process_info, sink_.number());
  return WriteKeyframe();
}

// Writes a chunk without events: with a keyframe, or, if options_.keyframes is false, with clock and counters. Each
// part begins with such a chunk, so that the part identifies its process before it contains events.
bool CaptureWriter::WriteKeyframe() {
  const std::uint64_t bytes_before = sink_.part_bytes();
  payload_.clear();
  ChunkHeader header;
  if (options_.keyframes) {
    builder_.AddKeyframe(complete_until_tick_, &payload_);
    header.facts.has_keyframe = true;
  }
  AddClockAndCounters();
  const bool written = AppendPayload(header);
  keyframe_bytes_ = written ? sink_.part_bytes() - bytes_before : 0;
  bytes_at_keyframe_ = sink_.part_bytes();
  if (payload_.capacity() > kMaxKeptBytes) std::string().swap(payload_);
  return written;
}

bool CaptureWriter::PartIsFull() const {
  // A part without events never counts as full, because its keyframe alone may be larger than a small part_bytes.
  if (sink_.part_events() == 0) return false;
  const std::uint64_t next = chunk_bytes_ + sink_.index().size() + 256;
  return sink_.part_bytes() + next > options_.part_bytes || sink_.part_chunks() >= kMaxPartChunks;
}

bool CaptureWriter::KeyframeIsDue() const {
  return options_.keyframes &&
         sink_.part_bytes() - bytes_at_keyframe_ > std::max(kMinKeyframeDistance, 8 * keyframe_bytes_);
}

// Decides which parts are evicted, before the payload is complete: its counters include the evictions. If there is no
// room for the uncompressed payload, compresses it to find its size on disk, which is several times smaller.
void CaptureWriter::MakeRoom() {
  const std::uint64_t other_bytes = kCountersBytes + pending_process_.size();
  if (!sink_.is_open() || sink_.HasRoom(payload_.size() + other_bytes)) return;
  sink_.PlanRoom(frame_.EncodePayload({}, payload_).size() + other_bytes, kept_.ListByImportance());
}

void CaptureWriter::AddClockAndCounters() {
  MakeRoom();
  protozero::pbf_writer payload(payload_);
  const RingClock now = options_.clock ? *options_.clock : ReadClock();
  if (now.tick != 0) AddClock(payload, field::payload::kClock, now);
  counters_written_ = ring_.Counters();
  AddCounters(payload, counters_written_, Status());
}

bool CaptureWriter::CountersChanged() const {
  const RingCounters now = ring_.Counters();
  return now.dropped_records != counters_written_.dropped_records || now.waits != counters_written_.waits ||
         now.dropped_allocated_bytes != counters_written_.dropped_allocated_bytes ||
         now.forked_children != counters_written_.forked_children;
}

bool CaptureWriter::AppendPayload(ChunkHeader header) {
  header.sequence = sequence_++;  // used up even if the chunk is lost, so that readers see the gap
  header.complete_until_tick = complete_until_tick_;
  if (!sink_.is_open()) return false;
  header.process = pending_process_;
  const bool held_events = sink_.part_events() != 0;
  const bool written = sink_.Append(frame_.EncodePayload(header, payload_), header.facts);
  if (options_.on_chunk) options_.on_chunk();
  pending_process_.clear();  // even if the part is lost, because the next part begins with a ProcessInfo
  if (written) return true;
  // A part with events may have reached the limit on the size of files: the next part is tried at once. Without events,
  // the next part may fail too, so the next try waits. memoir-drain never retries: unwritten events stay in the ring.
  if (!options_.retry || !held_events) RetryLater();
  return false;
}

void CaptureWriter::SetProcess(std::string process_info) {
  options_.process_info = std::move(process_info);
  if (sink_.is_open()) pending_process_ = AddPartNumber(options_.process_info, sink_.number());
}

std::string CaptureWriter::WriteSnapshot(const RequestedSnapshot& wish) {
  // A snapshot at an out-of-memory error lacks later events, so it has the tick of the error, not the current tick.
  const std::uint64_t tick = wish.of_newest_event ? complete_until_tick_ : Tick();
  return snapshots_.Write({wish.folder, options_.folder, options_.stem, options_.process_info, wish.why, tick}, part_);
}

void CaptureWriter::RetryLater() {
  retry_at_ns_ = options_.retry ? MonotonicNs() + options_.retry_ns : ~std::uint64_t{0};
}

void CaptureWriter::Write(std::uint64_t complete_until_tick) {
  complete_until_tick_ = std::max(complete_until_tick_, complete_until_tick);
  payload_.clear();
  builder_.AddTo(&payload_);
  AddClockAndCounters();
  ChunkHeader header;
  header.facts = {builder_.first_tick(), builder_.last_tick(), builder_.events(), false};
  bool written = false;
  if (IsNearSizeCap()) {
    ++sequence_;
  } else {
    written = AppendPayload(header);
  }
  kept_.Note(builder_.memory().devices(), written ? sink_.number() : ImportantParts::kNoPart);
  if (written) {
    events_ += builder_.events();
  } else {
    CountLost(builder_.events());
  }
  builder_.Clear();
}

void CaptureWriter::CountLost(std::uint64_t events) {
  lost_events_ += events;
  ++lost_chunks_;
}

void CaptureWriter::WriteCounters(std::uint64_t complete_until_tick) {
  Prepare();
  complete_until_tick_ = std::max(complete_until_tick_, complete_until_tick);
  payload_.clear();
  AddClockAndCounters();
  AppendPayload({});
}

// Closes the part. False if an unknown amount of the part may be lost; this counts as one lost chunk.
bool CaptureWriter::ClosePart() {
  if (!sink_.is_open()) return true;
  sink_.Append(frame_.EncodeIndex(sequence_++, sink_.index()), {});
  if (sink_.Close()) return true;
  ++lost_chunks_;
  return false;
}

// Called if another program removed the part. Its events are lost; the next keyframe has the sums of all events.
void CaptureWriter::LosePart() {
  const std::uint64_t events = sink_.part_events();
  sink_.Forget();
  events_ -= events;
  CountLost(events);
}

// Returns true if the part need not be kept, because it has no events except host samples, as in a process that only
// imported torch. If records were dropped or writes failed, the part is kept.
bool CaptureWriter::HasNoEvents() const {
  return !options_.keep_empty && part_ == 1 && events_ == builder_.host().count() && lost_chunks_ == 0 &&
         ring_.Counters().dropped_records == 0;
}

void CaptureWriter::Close(EndReason reason, const std::string& message) {
  if (HasNoEvents() && reason != EndReason::kFailed && sink_.Remove()) {
    closed_in_order_ = true;
    return;
  }
  RetryNow();
  Prepare();
  payload_.clear();
  AddClockAndCounters();
  {
    protozero::pbf_writer payload(payload_);
    protozero::pbf_writer end(payload, field::payload::kEnd);
    end.add_enum(field::end::kReason, static_cast<int>(reason));
    AddEndMessage(message, &end);
    if (options_.signal_at_end != 0) end.add_uint32(field::end::kSignal, options_.signal_at_end);
    if (options_.host_at_end) AddHostReading(*options_.host_at_end, field::end::kHost, &end);
  }
  const bool ended = AppendPayload({});
  closed_in_order_ = ClosePart() && ended;
}

WriterStatus CaptureWriter::Status() const {
  WriterStatus status = options_.counted_before;
  status.part = sink_.path();
  status.events = events_;
  status.bytes = sink_.bytes_written();
  status.lost_events += lost_events_;
  status.lost_chunks += lost_chunks_;
  if (!sink_.last_error().empty()) {
    status.last_write_error = sink_.last_error();
    status.last_write_errno = sink_.last_errno();
  }
  status.folded_events += sink_.folded_events();
  status.folded_parts += sink_.folded_parts();
  status.untracked_blocks += builder_.memory().live().untracked() + builder_.driver().blocks().untracked();
  return status;
}

}  // namespace memoir
