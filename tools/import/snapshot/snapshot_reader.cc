#include "tools/import/snapshot/snapshot_reader.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/import/snapshot/pickle_heap.h"
#include "tools/import/snapshot/pickle_reader.h"
#include "tools/import/snapshot/snapshot_settings.h"
#include "tools/import/snapshot/snapshot_stacks.h"
#include "tools/import/snapshot/snapshot_words.h"

namespace memoir {
namespace {

using Value = PickleReader::Value;
using Kind = PickleValue::Kind;
using namespace snapshot;

constexpr std::size_t kMostDevices = 1024;
constexpr std::size_t kMostEntries = std::size_t{1} << 26;

TraceKind KindOf(Value action) {
  if (!action.is(Kind::kText)) return TraceKind::kOther;
  switch (action.data()) {
    case k_alloc:
      return TraceKind::kAlloc;
    case k_free_requested:
      return TraceKind::kFreeRequested;
    case k_free_completed:
      return TraceKind::kFreeCompleted;
    case k_segment_alloc:
      return TraceKind::kSegmentAlloc;
    case k_segment_free:
      return TraceKind::kSegmentFree;
    case k_segment_map:
      return TraceKind::kSegmentMap;
    case k_segment_unmap:
      return TraceKind::kSegmentUnmap;
    case k_oom:
      return TraceKind::kOutOfMemory;
    case k_snapshot:
      return TraceKind::kSnapshot;
    default:
      return TraceKind::kOther;
  }
}

absl::Status TooManyEntries() { return absl::ResourceExhaustedError("more than 67,108,864 entries"); }

// Returns a time since 1970. 0 (no time) if the value is out of range.
std::uint64_t Microseconds(std::uint64_t us) { return us > 9'000'000'000'000'000 ? 0 : us; }

class SnapshotReader : public PickleReader::Visitor {
 public:
  explicit SnapshotReader(ByteSource& source) : pickle_(source, heap_), stacks_(heap_, snapshot_) {
    for (const std::string_view text : kTexts) heap_.AddText(text);
    pool_numbers_.emplace(0, 0);
    snapshot_.pools.emplace_back();
  }

  absl::StatusOr<TorchSnapshot> Read();
  std::optional<std::uint64_t> TakeItems(std::span<const Value> items) override;
  absl::Status status() const override { return status_; }

 private:
  std::uint64_t AddEntry(const Fields& fields);
  std::uint64_t AddBlock(const Fields& fields);
  std::uint64_t AddSegment(const Fields& fields);
  std::uint64_t AddAnnotation(const Fields& fields);
  absl::Status TakeTraces(Value traces);
  void TakeSegments(Value segments);
  void TakeAnnotations(Value annotations);

  std::uint64_t Unsigned(Value value) const { return static_cast<std::uint64_t>(heap_.Integer(value)); }
  std::uint64_t SizeOf(Value value);
  std::uint16_t StreamOf(Value value);
  std::uint16_t PoolOf(Value value);

  PickleHeap heap_;
  PickleReader pickle_;
  TorchSnapshot snapshot_;
  SnapshotStacks stacks_;
  absl::Status status_;
  std::vector<TorchSnapshot::TraceEntry> entries_;
  std::vector<TorchSnapshot::Block> blocks_;
  std::vector<TorchSnapshot::Segment> segments_;
  std::vector<TorchSnapshot::Annotation> annotations_;
  absl::flat_hash_map<std::uint64_t, std::uint16_t> stream_numbers_, pool_numbers_;
};

// Returns a size in bytes. Reports a size that exceeds any address space as damage.
std::uint64_t SnapshotReader::SizeOf(Value value) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 57;
  const std::uint64_t size = Unsigned(value);
  if (size > kMost) status_ = absl::DataLossError("damaged snapshot: a size of " + std::to_string(size) + " bytes");
  return size;
}

std::uint16_t SnapshotReader::StreamOf(Value value) {
  const auto next = static_cast<std::uint16_t>(snapshot_.streams.size());
  const auto [known, added] = stream_numbers_.try_emplace(Unsigned(value), next);
  if (!added) return known->second;
  if (snapshot_.streams.size() > std::numeric_limits<std::uint16_t>::max())
    status_ = absl::ResourceExhaustedError("more than 65,536 streams");
  snapshot_.streams.push_back(Unsigned(value));
  return known->second;
}

std::uint16_t SnapshotReader::PoolOf(Value value) {
  if (!value.is(Kind::kPair)) return 0;
  const auto next = static_cast<std::uint16_t>(snapshot_.pools.size());
  const auto [known, added] = pool_numbers_.try_emplace(value.data(), next);
  if (!added) return known->second;
  if (snapshot_.pools.size() > std::numeric_limits<std::uint16_t>::max())
    status_ = absl::ResourceExhaustedError("more than 65,536 pools");
  snapshot_.pools.push_back({value.first(), value.second()});
  return known->second;
}

std::uint64_t SnapshotReader::AddEntry(const Fields& fields) {
  TorchSnapshot::TraceEntry& entry = entries_.emplace_back();
  if (entries_.size() > kMostEntries) status_ = TooManyEntries();
  entry.kind = KindOf(fields[k_action]);
  if (entry.kind == TraceKind::kSnapshot || entry.kind == TraceKind::kOther)
    return PackObject(ObjectKind::kEntry, entries_.size() - 1);
  entry.address = Unsigned(fields[entry.kind == TraceKind::kOutOfMemory ? k_device_free : k_addr]);
  entry.bytes = SizeOf(fields[k_size]);
  entry.us = Microseconds(Unsigned(fields[k_time_us]));
  entry.stream = StreamOf(fields[k_stream]);
  entry.pool = PoolOf(fields[k_pool_id]);
  entry.origin = stacks_.OriginOf(fields[k_frames]);
  entry.metadata = stacks_.TextOf(fields[k_user_metadata]);
  entry.compile_context = stacks_.TextOf(fields[k_compile_context]);
  return PackObject(ObjectKind::kEntry, entries_.size() - 1);
}

std::uint64_t SnapshotReader::AddBlock(const Fields& fields) {
  TorchSnapshot::Block& block = blocks_.emplace_back();
  block.address = Unsigned(fields[k_address]);
  block.has_address = fields.has(k_address);
  block.bytes = SizeOf(fields[k_size]);
  block.requested_bytes = fields.has(k_requested_size) ? Unsigned(fields[k_requested_size]) : block.bytes;
  block.origin = stacks_.OriginOf(fields[k_frames]);
  // In files of torch 2.0, a block contains its history, newest allocation first.
  const std::span<const Value> history = heap_.Items(fields[k_history]);
  if (block.origin == 0 && !history.empty()) {
    if (const auto entry = ObjectNumber(heap_, history.front(), ObjectKind::kEntry)) {
      block.origin = entries_[*entry].origin;
      block.requested_bytes = entries_[*entry].bytes;
    }
  }
  const Value state = fields[k_state];
  const std::string_view word = state.is(Kind::kText) ? heap_.text(static_cast<std::uint32_t>(state.data())) : "";
  if (word == "active_allocated") block.state = TorchSnapshot::BlockState::kAllocated;
  // torch's documentation calls the state "active_awaiting_free"; the file has "active_pending_free".
  if (word.starts_with("active_") && word.ends_with("_free")) block.state = TorchSnapshot::BlockState::kPendingFree;
  return PackObject(ObjectKind::kBlock, blocks_.size() - 1);
}

std::uint64_t SnapshotReader::AddSegment(const Fields& fields) {
  TorchSnapshot::Segment& segment = segments_.emplace_back();
  segment.address = Unsigned(fields[k_address]);
  segment.bytes = SizeOf(fields[k_total_size]);
  segment.device = static_cast<std::uint32_t>(Unsigned(fields[k_device]));
  segment.stream = StreamOf(fields[k_stream]);
  segment.pool = PoolOf(fields[k_segment_pool_id]);
  segment.expandable = Unsigned(fields[k_is_expandable]) != 0;
  std::uint64_t at = segment.address;
  for (const Value item : heap_.Items(fields[k_blocks])) {
    const auto number = ObjectNumber(heap_, item, ObjectKind::kBlock);
    if (!number) continue;
    TorchSnapshot::Block block = blocks_[*number];
    if (!block.has_address) block.address = at;  // torch 2.0: the blocks are adjacent
    at = block.address + block.bytes;
    segment.blocks.push_back(block);
  }
  heap_.Replace(fields[k_blocks],
                // Frees the list's memory. Another segment that refers to the list finds no items.
                PackObject(ObjectKind::kSettings, 0));
  return PackObject(ObjectKind::kSegment, segments_.size() - 1);
}

std::uint64_t SnapshotReader::AddAnnotation(const Fields& fields) {
  const Value stage = fields[k_stage];
  annotations_.push_back({Microseconds(Unsigned(fields[k_time_us])), stacks_.TextOf(fields[k_name]),
                          static_cast<std::uint32_t>(Unsigned(fields[k_device])),
                          stage.is(Kind::kText) && stage.data() == k_START});
  return PackObject(ObjectKind::kAnnotation, annotations_.size() - 1);
}

std::optional<std::uint64_t> SnapshotReader::TakeItems(std::span<const Value> items) {
  const Fields fields(items);
  if (fields.has(k_action)) return AddEntry(fields);
  if (fields.has(k_filename) && fields.has(k_line)) return PackObject(ObjectKind::kFrame, stacks_.AddFrame(fields));
  if (fields.has(k_total_size)) return AddSegment(fields);
  if (fields.has(k_state) && fields.has(k_size)) return AddBlock(fields);
  if (fields.has(k_stage)) return AddAnnotation(fields);
  if (fields.has(k_real_size)) {  // an entry of a block's history in torch 2.0
    if (entries_.size() >= kMostEntries) status_ = TooManyEntries();
    entries_.push_back({.bytes = Unsigned(fields[k_real_size]), .origin = stacks_.OriginOf(fields[k_frames])});
    return PackObject(ObjectKind::kEntry, entries_.size() - 1);
  }
  if (fields.has(k_roundup_power2_divisions) || fields.has(k_expandable_segments)) {
    snapshot_.settings = SettingsOf(fields, heap_);
    return PackObject(ObjectKind::kSettings, 0);
  }
  return std::nullopt;
}

absl::Status SnapshotReader::TakeTraces(Value traces) {
  const std::span<const Value> of_all = heap_.Items(traces);
  std::size_t taken = 0;
  // The loop uses a copy, because Replace() below may change the list itself.
  for (const Value trace : std::vector<Value>(of_all.begin(), of_all.end())) {
    if (snapshot_.traces.size() == kMostDevices) return absl::InvalidArgumentError("traces of more than 1,024 devices");
    std::vector<TorchSnapshot::TraceEntry>& entries = snapshot_.traces.emplace_back();
    const std::span<const Value> items = heap_.Items(trace);
    taken += items.size();
    if (taken > kMostEntries) return TooManyEntries();
    std::size_t in_order = 0;  // number of items that are the first elements of entries_, in order
    for (; in_order < items.size(); ++in_order) {
      if (ObjectNumber(heap_, items[in_order], ObjectKind::kEntry) != in_order) break;
    }
    if (in_order == items.size() && in_order == entries_.size()) {
      entries.swap(entries_);
    } else {
      entries.reserve(items.size());
      for (const Value item : items) {
        const auto number = ObjectNumber(heap_, item, ObjectKind::kEntry);
        if (number && *number < entries_.size()) entries.push_back(entries_[*number]);
      }
    }
    heap_.Replace(trace, PackObject(ObjectKind::kSettings, 0));  // frees the list's memory
  }
  std::vector<TorchSnapshot::TraceEntry>().swap(entries_);
  return absl::OkStatus();
}

void SnapshotReader::TakeSegments(Value segments) {
  for (const Value item : heap_.Items(segments)) {
    if (const auto number = ObjectNumber(heap_, item, ObjectKind::kSegment))
      snapshot_.segments.push_back(std::move(segments_[*number]));
  }
}

void SnapshotReader::TakeAnnotations(Value annotations) {
  for (const Value item : heap_.Items(annotations)) {
    if (const auto number = ObjectNumber(heap_, item, ObjectKind::kAnnotation))
      snapshot_.annotations.push_back(annotations_[*number]);
  }
}

absl::StatusOr<TorchSnapshot> SnapshotReader::Read() {
  const absl::StatusOr<Value> root = pickle_.Read(*this);
  if (!root.ok()) return root.status();
  const Fields fields(heap_.Items(*root));
  if (!fields.has(k_segments)) {
    return absl::InvalidArgumentError(
        "a pickle, but no memory snapshot: it has no 'segments'; give a file of torch.cuda.memory._dump_snapshot()");
  }
  TakeSegments(fields[k_segments]);
  TakeAnnotations(fields[k_external_annotations]);
  if (absl::Status taken = TakeTraces(fields[k_device_traces]); !taken.ok()) return taken;
  for (TorchSnapshot::Segment& segment : snapshot_.segments) {
    if (segment.device >= kMostDevices)
      return absl::InvalidArgumentError("damaged: a segment of device " + std::to_string(segment.device));
    if (segment.device >= snapshot_.traces.size()) snapshot_.traces.resize(segment.device + 1);
    std::ranges::stable_sort(segment.blocks, {}, &TorchSnapshot::Block::address);
  }
  return std::move(snapshot_);
}

}  // namespace

absl::StatusOr<TorchSnapshot> ReadTorchSnapshot(ByteSource& source) { return SnapshotReader(source).Read(); }

}  // namespace memoir
