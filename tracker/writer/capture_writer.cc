#include "tracker/writer/capture_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <protozero/pbf_writer.hpp>

#include "interpose/tick.h"
#include "tracker/writer/capture_fields.h"
#include "tracker/writer/clock.h"

namespace memoir {
namespace {

constexpr std::size_t kChunkBytes = 512 * 1024;
constexpr std::size_t kMinChunkBytes = 4 * 1024;
constexpr std::uint64_t kMinKeyframeDistance = 16u << 20;
// The index stays in memory until its part is closed.
constexpr std::uint64_t kMaxPartChunks = 32 * 1024;
constexpr std::size_t kMaxKeptBytes = 2u << 20;
// A chunk beside its payload's columns, about: header, clock, counters.
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
      frame_(RecordingOf(options.process_info)),
      chunk_bytes_(std::clamp<std::size_t>(PartBytes(options) / 16, kMinChunkBytes, kChunkBytes)),
      sequence_(options.first_sequence) {
  options_.part_bytes = PartBytes(options);
}

void CaptureWriter::Prepare() {
  if (sink_.WasRemoved()) LosePart();
  if (sink_.is_open() && PartIsFull()) LeaveFullPart();
  if (!sink_.is_open()) {
    if (MonotonicNs() >= retry_at_ns_ && !OpenPart()) TryLater();
  } else if (KeyframeIsDue()) {
    WriteKeyframe();
  }
}

// Not before there is another one: where none may be made any more (a process that gave up its rights by setuid), the
// part grows on.
void CaptureWriter::LeaveFullPart() {
  if (MonotonicNs() < retry_at_ns_) return;
  no_next_part_ = !sink_.PrepareNext();
  if (no_next_part_) {
    TryLater();
  } else {
    ClosePart();
  }
}

// Of a part that grows on: what the cap allows is used up, and no older part can make room.
bool CaptureWriter::ComesToTheCap() const {
  return no_next_part_ && options_.max_bytes != 0 && sink_.part_bytes() > options_.max_bytes;
}

bool CaptureWriter::OpenPart() {
  if (!sink_.Open()) return false;
  builder_.SetPart(++part_);
  if (part_ > 1) ring_.CountPart();
  pending_process_ = WithPart(options_.process_info, sink_.number());
  return WriteKeyframe();
}

// A part's first chunk, also where no keyframe is wanted: it says whose part this is before any event is at risk.
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
  if (sink_.part_events() == 0) return false;  // a keyframe alone may be larger than a small part
  const std::uint64_t next = chunk_bytes_ + sink_.index().size() + 256;
  return sink_.part_bytes() + next > options_.part_bytes || sink_.part_chunks() >= kMaxPartChunks;
}

bool CaptureWriter::KeyframeIsDue() const {
  return options_.keyframes &&
         sink_.part_bytes() - bytes_at_keyframe_ > std::max(kMinKeyframeDistance, 8 * keyframe_bytes_);
}

// The counters say what was evicted, so that it is decided before they are there to be compressed. Compressing the rest
// for its size alone costs time only where parts are evicted; its plain size, several times as large, would evict parts
// that have room.
void CaptureWriter::MakeRoom() {
  const std::uint64_t beside = kCountersBytes + pending_process_.size();
  if (!sink_.is_open() || sink_.HasRoom(payload_.size() + beside)) return;
  sink_.PlanRoom(frame_.Payload({}, payload_).size() + beside, kept_.ByImportance());
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
  header.sequence = sequence_++;  // used up even when it is lost: readers see the gap
  header.complete_until_tick = complete_until_tick_;
  if (!sink_.is_open()) return false;
  header.process = pending_process_;
  const bool held_events = sink_.part_events() != 0;
  const bool written = sink_.Append(frame_.Payload(header, payload_), header.facts);
  pending_process_.clear();  // also where the part is lost with it: the next one begins with it
  if (written) return true;
  // A part that has come to the limit on file sizes: the next one has room at once, unless it did not get beyond its
  // first chunks. A drainer stops there, for what it has not written must stay in the ring.
  if (!options_.retry || sink_.last_errno() != EFBIG || !held_events) TryLater();
  return false;
}

void CaptureWriter::SetProcess(std::string process_info) {
  options_.process_info = std::move(process_info);
  if (sink_.is_open()) pending_process_ = WithPart(options_.process_info, sink_.number());
}

std::string CaptureWriter::WriteSnapshot(const SnapshotWish& wish) {
  // Of an error the state is older: more events may have been read already, but none of them is in it.
  const std::uint64_t tick = wish.of_newest_event ? complete_until_tick_ : Tick();
  return snapshots_.Write({wish.folder, options_.folder, options_.stem, options_.process_info, wish.why, tick}, part_);
}

void CaptureWriter::TryLater() {
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
  if (ComesToTheCap()) {
    ++sequence_;
  } else {
    written = AppendPayload(header);
  }
  kept_.Note(builder_.memory().devices(), written ? sink_.number() : KeptParts::kNoPart);
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

// False: something of the part may be lost; how much, nobody says, so it counts as one chunk.
bool CaptureWriter::ClosePart() {
  if (!sink_.is_open()) return true;
  sink_.Append(frame_.Index(sequence_++, sink_.index()), {});
  if (sink_.Close()) return true;
  ++lost_chunks_;
  return false;
}

// Somebody has removed the part. What it held is lost; the next one begins with the sums of all.
void CaptureWriter::LosePart() {
  const std::uint64_t events = sink_.part_events();
  sink_.Forget();
  events_ -= events;
  CountLost(events);
}

// A process that only imported torch. Where something was dropped or could not be written, that is worth a file.
bool CaptureWriter::HoldsNothing() const {
  return !options_.keep_empty && part_ == 1 && events_ == builder_.host().count() && lost_chunks_ == 0 &&
         ring_.Counters().dropped_records == 0;
}

void CaptureWriter::Close(EndReason reason, const std::string& message) {
  if (HoldsNothing() && reason != EndReason::kFailed && sink_.Remove()) {
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
    if (!message.empty()) end.add_string(field::end::kMessage, message);
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
