#include "tools/follow/followed_recording.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

namespace memoir {
namespace {

std::uint64_t ThreadCpuNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

bool IsRemoved(const PartFile& part) {
  std::error_code error;
  return !std::filesystem::exists(part.path, error) && !error;
}

}  // namespace

FollowedRecording::FollowedRecording(ProcessFiles files, const Symbols& symbols, Visitor& visitor,
                                     std::uint64_t most_from_start) {
  for (PartFile& part : files.parts) parts_.push_back(std::move(part));
  ProcessSummary& summary = summaries_.emplace_back();
  summary.id = ProcessId{0};
  summary.info = parts_.front().process;
  summary.starts_at_first_chunk = parts_.front().chunks.front().sequence == 0;
  summary.first_tick = summary.info.start().tick();
  NoteInfo(parts_.back());
  FindStart(most_from_start);
  options_.tensors = options_.modules = true;
  options_.first_seen = false;
  replayer_ = std::make_unique<Replayer>(summaries_, symbols, visitor, options_, &report_);
  report_.processes[0].replayed = true;
  ReplayItem(SourceItem::Kind::kProcessBegin);
}

void FollowedRecording::NoteInfo(const PartFile& part) {
  v1::ProcessInfo& info = summaries_[0].info;
  const v1::ProcessInfo& newest = part.process;
  info.set_rank(newest.rank());
  info.set_world_size(newest.world_size());
  info.set_restart(newest.restart());
  info.set_rank_source(newest.rank_source());
  *info.mutable_sources() = newest.sources();
}

// Starts at the last keyframe of a large recording. From the chunks before the keyframe, only definitions are read,
// because a part defines each name and stack once.
void FollowedRecording::FindStart(std::uint64_t most_bytes) {
  std::uint64_t bytes = 0;
  for (const PartFile& part : parts_) bytes += part.file_bytes;
  begun_late_ = !summaries_[0].starts_at_first_chunk;
  if (bytes <= most_bytes) return;
  for (std::size_t part = parts_.size(); part-- > 0;) {
    const std::vector<ChunkHeader>& chunks = parts_[part].chunks;
    for (std::size_t chunk = chunks.size(); chunk-- > 0;) {
      if (!chunks[chunk].has_keyframe) continue;
      for (; part > 0; --part) {
        seen_.push_back(parts_.front().path);
        parts_.pop_front();
      }
      definitions_ = chunk;
      begun_late_ = true;
      summaries_[0].starts_at_first_chunk = false;
      return;
    }
  }
}

bool FollowedRecording::HasPart(const std::string& path) const {
  return std::ranges::find(seen_, path) != seen_.end() ||
         std::ranges::find(parts_, path, &PartFile::path) != parts_.end();
}

void FollowedRecording::ReplayItem(SourceItem::Kind kind) {
  SourceItem item;
  item.kind = kind;
  replayer_->Take(item);
}

bool FollowedRecording::ReadNewChunks(CpuBudget& budget, const std::function<bool()>& go_on) {
  const std::uint64_t before = chunks_;
  bool stopped = false;
  while (!stopped) {
    PartFile& part = parts_.front();
    const absl::Status continued = ContinuePart(&part);
    gone_ = !continued.ok() && parts_.size() == 1;
    removed_ = removed_ || (!continued.ok() && IsRemoved(part));
    NoteInfo(part);
    TakeChunks(part, budget, go_on, &stopped);
    if (stopped || parts_.size() == 1) break;
    last_part_ = part.process.part();
    file_bytes_ += part.walked_bytes;
    seen_.push_back(part.path);
    parts_.pop_front();
    part_begins_ = true;
    leave_rest_ = false;
  }
  return chunks_ != before;
}

void FollowedRecording::TakeChunks(PartFile& part, CpuBudget& budget, const std::function<bool()>& go_on,
                                   bool* stopped) {
  std::size_t taken = 0;
  for (const ChunkHeader& header : part.chunks) {
    if (!go_on()) {
      *stopped = true;
      break;
    }
    ++taken;
    const bool removed = part_begins_ && std::exchange(removed_, false);
    if (sequence_known_ && header.sequence > expected_sequence_) TakeGap(part, header, removed);
    expected_sequence_ = std::max(expected_sequence_, header.sequence + 1);
    sequence_known_ = true;
    if (header.stored_bytes == 0 || leave_rest_) continue;
    const bool in_full = budget.ReadsInFull() && definitions_ == 0;
    const std::uint64_t begin = ThreadCpuNs();
    if (!TakeChunk(part, header, in_full)) {
      removed_ = true;
      definitions_ = 0;
      expected_sequence_ = header.sequence;  // so that the missing chunks are noticed
      taken = part.chunks.size();
      break;
    }
    if (definitions_ == 0) budget.Spend(ThreadCpuNs() - begin, in_full);
    ++chunks_;
    in_full_ += in_full;
    if (definitions_ == 0) continue;
    --definitions_;
    if (definitions_ == 0) ReplayItem(SourceItem::Kind::kEvicted);
  }
  part.chunks.erase(part.chunks.begin(), part.chunks.begin() + static_cast<std::ptrdiff_t>(taken));
}

// Reports missing chunks to the replayer. Chunks of parts that --max-size removed are reported as evicted, not as lost.
void FollowedRecording::TakeGap(const PartFile& part, const ChunkHeader& header, bool removed) {
  const bool between_parts = part_begins_ && part.process.part() > last_part_ + 1;
  if (between_parts || removed) return ReplayItem(SourceItem::Kind::kEvicted);
  SourceItem item;
  item.kind = SourceItem::Kind::kLost;
  item.lost_chunks = header.sequence - expected_sequence_;
  replayer_->Take(item);
}

bool FollowedRecording::TakeChunk(const PartFile& part, const ChunkHeader& header, bool in_full) {
  constexpr std::size_t kMostWaiting = 32;  // limit of paths_; the chunks in the replayer belong to fewer parts
  SourceItem item;
  if (part_begins_) signatures_.clear();
  std::string bytes;
  const auto payload = std::make_shared<Payload>();
  absl::Status status = reader_.Read(part, header, &bytes);
  if (status.ok()) status = ParsePayload(std::move(bytes), &signatures_, payload.get());
  if (!status.ok()) {
    if (IsRemoved(part)) return false;
    item.kind = SourceItem::Kind::kDamage;
    item.damage = Damage{part.path, header.offset, std::string(status.message())};
    leave_rest_ = true;
    replayer_->Take(item);
    return true;
  }
  if (definitions_ > 0) {
    payload->runs.clear();
    payload->pattern_rows = {};
    payload->repeated_records.clear();
    payload->tensors.clear();
    payload->keyframe = {};
    payload->events = 0;
  }
  if (payload->clock.tick() != 0) newest_ = payload->clock;
  if (paths_.empty() || paths_.back() != part.path) paths_.push_back(part.path);
  if (paths_.size() > kMostWaiting) paths_.pop_front();
  item.chunk = std::make_shared<Chunk>();
  item.chunk->file = &paths_.back();
  item.chunk->header = header;
  item.chunk->payload = payload;
  item.chunk->is_skimmed = !in_full;
  item.chunk->part_begins = std::exchange(part_begins_, false);
  replayer_->Take(item);
  return true;
}

}  // namespace memoir
