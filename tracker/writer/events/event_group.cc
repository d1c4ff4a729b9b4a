#include "tracker/writer/events/event_group.h"

namespace memoir {
namespace {

constexpr std::size_t Padded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

// Returns the size, in bytes, of the argument kinds and list lengths that follow a range record.
constexpr std::size_t ArgumentBytes(std::size_t kinds, std::size_t lists) {
  return Padded(Padded(kinds, 4) + lists * 4, 8);
}

template <typename Record>
void ReadArguments(EventGroup* group) {
  const auto& record = group->As<Record>();
  const auto* kinds = reinterpret_cast<const char*>(&record + 1);
  const std::size_t count = record.header.count;
  group->kinds = {kinds, count};
  group->list_lengths = reinterpret_cast<const std::uint32_t*>(kinds + Padded(count, 4));
  group->list_count = record.list_count;
}

const char* AfterArguments(const EventGroup& group) {
  return group.kinds.data() + ArgumentBytes(group.kinds.size(), group.list_count);
}

}  // namespace

void ThreadRecords::Reset(const RingExtentView* views, std::size_t count, std::uint64_t next_record) {
  segments_.clear();
  skipped_stacks_.clear();
  for (std::size_t i = 0; i < count; ++i) segments_.push_back({views[i], views[i].first_record});
  consumed_segments_ = 0;
  position_ = {0, views[0].begin, views[0].first_record};
  // Gaps before `next_record` do not matter: all records before it were already added to a chunk.
  std::size_t bytes;
  while (position_.record < next_record && FindRecord(&position_, &bytes) != Step::kEnd) {
    if (position_.record >= next_record) break;
    const auto* header = reinterpret_cast<const RecordHeader*>(position_.at);
    if (header->kind == RecordKind::kStack) skipped_stacks_.push_back(reinterpret_cast<const StackRecord*>(header));
    StepOver(&position_, bytes);
  }
}

// Continues FindRecord, at the end of a ring extent or at a damaged record.
ThreadRecords::Step ThreadRecords::FindRecordBehind(Position* position, std::size_t* bytes) {
  bool gap = false;
  for (;;) {
    Extent& segment = segments_[position->segment];
    if (position->at < segment.view.end) {
      *bytes = RingReader::RecordBytes(position->at, segment.view.end);
      if (*bytes != 0) return gap ? Step::kGap : Step::kRecord;
      position->at = segment.view.end;  // behind a damaged length, no record of this extent can be found
      continue;
    }
    segment.end_record = position->record;
    if (position->segment + 1 == segments_.size()) return Step::kEnd;
    position->segment += 1;
    const RingExtentView& next = segments_[position->segment].view;
    gap = gap || next.first_record != position->record;
    position->at = next.begin;
    position->record = next.first_record;
  }
}

std::uint32_t ReadEvent(EventGroup* group) {
  group->kinds = {};
  group->text = {};
  group->list_count = 0;
  // In each kind of record except for tensors, the tick follows the header.
  group->tick = *reinterpret_cast<const std::uint64_t*>(group->header + 1);
  if (group->kind == RecordKind::kRangeBegin) {
    const auto& record = group->As<RangeBeginRecord>();
    ReadArguments<RangeBeginRecord>(group);
    if ((record.header.flags & kInlineName) != 0) group->text = {AfterArguments(*group), record.name};
    return record.tensor_count;
  }
  if (group->kind == RecordKind::kRangeEnd) {
    ReadArguments<RangeEndRecord>(group);
    return group->As<RangeEndRecord>().tensor_count;
  }
  if (group->kind == RecordKind::kHolds) {
    const auto& record = group->As<HoldsRecord>();
    ReadArguments<HoldsRecord>(group);
    group->text = {AfterArguments(*group), record.name_bytes};
    return record.tensor_count;
  }
  if (group->kind == RecordKind::kMark) {
    const auto& record = group->As<MarkRecord>();
    group->text = {reinterpret_cast<const char*>(&record + 1), record.length};
  }
  return 0;
}

// Adds the event's tensor records to the group. False if an announced tensor may still appear in the ring.
bool ThreadRecords::ReadTensors(EventGroup* group, std::uint32_t announced, Position* position,
                                std::uint64_t seen_record) {
  while (group->tensors.size() < announced) {
    Position next = *position;
    std::size_t bytes;
    const Step step = FindRecord(&next, &bytes);
    if (step == Step::kEnd) return seen_record == kAllSeen;
    if (step == Step::kGap && next.record >= seen_record) return false;
    const auto* header = reinterpret_cast<const RecordHeader*>(next.at);
    // If a gap or another event follows, the remaining tensors were lost.
    if (step == Step::kGap || header->kind != RecordKind::kTensor) return true;
    group->tensors.push_back(reinterpret_cast<const TensorRecord*>(header));
    StepOver(&next, bytes);
    *position = next;
  }
  return true;
}

ThreadRecords::PeekResult ThreadRecords::Peek(EventGroup* group, std::uint64_t seen_record) {
  std::size_t bytes;
  for (;;) {
    if (FindRecord(&position_, &bytes) == Step::kEnd) return PeekResult::kNothing;
    group->header = reinterpret_cast<const RecordHeader*>(position_.at);
    group->kind = group->header->kind;
    const bool orphaned = group->kind == RecordKind::kTensor;
    if (!orphaned && group->kind != RecordKind::kDropped) break;
    if (orphaned && position_.record >= seen_record) return PeekResult::kUnclear;
    StepOver(&position_, bytes);
  }
  group->first_record = position_.record;
  group->tensors.clear();
  const std::uint32_t announced = ReadEvent(group);
  after_ = position_;
  StepOver(&after_, bytes);
  if (!ReadTensors(group, announced, &after_, seen_record)) return PeekResult::kIncomplete;
  group->records = group->tensors.size() + 1;
  return PeekResult::kGroup;
}

std::uint64_t ThreadRecords::LastVisibleRecord() const {
  const RingExtentView& last = segments_.back().view;
  const bool inside = position_.segment + 1 == segments_.size();
  const std::uint8_t* at = inside ? position_.at : last.begin;
  std::uint64_t record = inside ? position_.record : last.first_record;
  while (const std::size_t bytes = RingReader::RecordBytes(at, last.end)) {
    at += bytes;
    ++record;
  }
  return record;
}

void ThreadRecords::ConsumeUpToPosition(RingReader& reader) {
  for (; consumed_segments_ < position_.segment; ++consumed_segments_) {
    const Extent& segment = segments_[consumed_segments_];
    reader.Consume(segment.view, segment.view.end, segment.end_record - segment.view.first_record);
  }
  RingExtentView& view = segments_[position_.segment].view;
  if (consumed_segments_ > position_.segment || position_.at == view.begin) return;
  reader.Consume(view, position_.at, position_.record - view.first_record);
  // A ring extent that is consumed completely must not be consumed again, because it may belong to another thread at
  // the next call.
  if (position_.at == view.end) consumed_segments_ = position_.segment + 1;
  view.begin = position_.at;
  view.first_record = position_.record;
}

}  // namespace memoir
