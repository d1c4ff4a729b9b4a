#include "tools/model/parts/chunk_source.h"

#include <algorithm>
#include <utility>

#include "tools/model/parts/evicted_parts.h"
#include "tools/model/parts/replay_work.h"

namespace memoir {
namespace {

std::uint64_t MemoryOf(const SourceItem& item) {
  return item.chunk == nullptr ? 0 : item.chunk->payload->memory_bytes();
}

// Returns the indices of the part and of the chunk where a replay of the process starts. If the first chunk of the
// recording is missing, the replay starts at the first remaining chunk with a keyframe.
std::pair<std::size_t, std::size_t> FindStart(const ProcessFiles& process) {
  if (process.parts[0].chunks[0].sequence == 0) return {0, 0};
  for (std::size_t part = 0; part < process.parts.size(); ++part) {
    const std::vector<ChunkHeader>& chunks = process.parts[part].chunks;
    for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
      if (chunks[chunk].has_keyframe) return {part, chunk};
    }
  }
  return {0, 0};
}

}  // namespace

ChunkSource::ChunkSource(const CaptureFolder& folder, DecodedChunks& decoded, std::set<std::size_t> wanted)
    : folder_(folder), decoded_(decoded), wanted_(std::move(wanted)), thread_([this] { Produce(); }) {}

ChunkSource::~ChunkSource() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool ChunkSource::Next(SourceItem* item) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !queue_.empty() || done_; });
  if (queue_.empty()) return false;
  *item = std::move(queue_.front());
  queue_.pop_front();
  queued_bytes_ -= MemoryOf(*item);
  changed_.notify_all();
  return true;
}

bool ChunkSource::Push(SourceItem item) {
  const std::uint64_t memory = MemoryOf(item);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return stopped_ || queue_.empty() || (queue_.size() < kMaxQueuedItems && queued_bytes_ + memory <= kMaxQueuedBytes);
  });
  if (stopped_) return false;
  item.file_bytes_done = file_bytes_done_;
  queued_bytes_ += memory;
  queue_.push_back(std::move(item));
  changed_.notify_all();
  return true;
}

void ChunkSource::Produce() {
  for (std::size_t process = 0; process < folder_.processes.size(); ++process) {
    if (wanted_.contains(process)) ProduceProcess(process);
  }
  const std::lock_guard lock(mutex_);
  done_ = true;
  changed_.notify_all();
}

void ChunkSource::ProduceProcess(std::size_t process) {
  SourceItem item;
  item.process = process;
  item.kind = SourceItem::Kind::kProcessBegin;
  if (!Push(item)) return;
  SignatureCountsById signatures;
  const std::vector<PartFile>& parts = folder_.processes[process].parts;
  const auto [first_part, first_chunk] = FindStart(folder_.processes[process]);
  sequence_known_ = evicted_known_ = false;
  for (std::size_t part = first_part; part < parts.size(); ++part) {
    const std::uint64_t bytes_before = file_bytes_done_;
    if (!ProducePart(process, parts[part], part == first_part ? first_chunk : 0, &signatures)) return;
    expected_part_ = parts[part].process.part() + std::uint64_t{1};
    file_bytes_done_ = bytes_before + parts[part].file_bytes;
  }
  item.kind = SourceItem::Kind::kProcessEnd;
  Push(item);
}

absl::Status ChunkSource::Decode(const PartFile& part, Chunk& chunk, SignatureCountsById* signatures) {
  chunk.payload = decoded_.Find(part, chunk.header.offset);
  if (chunk.payload != nullptr) return AddSignatures(*chunk.payload, signatures);
  std::string bytes;
  if (absl::Status read = reader_.Read(part, chunk.header, &bytes); !read.ok()) return read;
  const auto payload = std::make_shared<Payload>();
  if (absl::Status parsed = ParsePayload(std::move(bytes), signatures, payload.get()); !parsed.ok()) return parsed;
  ++TotalReplayWork().decoded_chunks;
  decoded_.Keep(part, chunk.header.offset, payload);
  chunk.payload = payload;
  return absl::OkStatus();
}

// Pushes an item for the chunks that are missing directly before the chunk of `header`: kEvicted or kLost.
bool ChunkSource::ProduceGap(std::size_t process, const PartFile& part, const ChunkHeader& header) {
  SourceItem item;
  item.process = process;
  item.kind = SourceItem::Kind::kLost;
  item.lost_chunks = header.sequence - expected_sequence_;
  const bool between_parts = &header == &part.chunks.front() && part.process.part() > expected_part_;
  if (between_parts && !std::exchange(evicted_known_, true))
    evicted_parts_ = CountEvictedParts(folder_.processes[process]);
  const std::uint64_t parts = between_parts ? part.process.part() - expected_part_ : 0;
  if (parts > 0 && parts <= evicted_parts_) {
    evicted_parts_ -= parts;
    item.kind = SourceItem::Kind::kEvicted;
  }
  return Push(std::move(item));
}

bool ChunkSource::ProducePart(std::size_t process, const PartFile& part, std::size_t first_chunk,
                              SignatureCountsById* signatures) {
  signatures->clear();  // each part has its own dictionaries
  bool part_begins = true;
  const std::uint64_t bytes_before = file_bytes_done_;
  for (std::size_t i = first_chunk; i < part.chunks.size(); ++i) {
    const ChunkHeader& header = part.chunks[i];
    file_bytes_done_ = bytes_before + header.offset;
    SourceItem item;
    item.process = process;
    if (sequence_known_ && header.sequence > expected_sequence_ && !ProduceGap(process, part, header)) return false;
    expected_sequence_ = sequence_known_ ? std::max(expected_sequence_, header.sequence + 1) : header.sequence + 1;
    sequence_known_ = true;
    if (header.stored_bytes == 0) continue;
    item.chunk = std::make_shared<Chunk>();
    item.chunk->file = &part.path;
    item.chunk->header = header;
    const absl::Status status = Decode(part, *item.chunk, signatures);
    item.chunk->part_begins = std::exchange(part_begins, false);
    if (status.ok()) {
      item.kind = SourceItem::Kind::kChunk;
      if (!Push(std::move(item))) return false;
      continue;
    }
    item.kind = SourceItem::Kind::kDamage;
    item.damage = Damage{part.path, header.offset, std::string(status.message())};
    item.chunk = nullptr;
    expected_sequence_ = part.chunks.back().sequence + 1;  // the rest of the part counts as damaged, not as lost
    signatures->clear();                                   // the replay never receives the signatures of this chunk
    return Push(std::move(item));
  }
  return true;
}

}  // namespace memoir
