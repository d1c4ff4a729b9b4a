// The part of the builder that makes chunks, keyframes, parts and files of events.
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "tests/captures/capture_builder.h"
#include "tests/captures/capture_encoding.h"

namespace memoir::testing {

void Seal(const v1::Payload& payload, v1::Chunk* chunk) { SealBytes(payload.SerializeAsString(), chunk); }

void SealBytes(const std::string& plain, v1::Chunk* chunk) {
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 3));
  chunk->set_checksum(XXH64(packed.data(), packed.size(), 0));
  chunk->set_payload_bytes(plain.size());
  chunk->set_payload(std::move(packed));
}

std::string Delimited(const v1::Chunk& chunk) {
  v1::Part part;
  *part.add_chunk() = chunk;
  if (chunk.recording() == 0) return part.SerializeAsString();
  v1::Chunk header = chunk, behind;
  header.clear_payload();
  header.clear_index();
  header.clear_chunk_bytes();
  header.clear_header_checksum();
  behind.set_payload(chunk.payload());
  if (chunk.has_index()) *behind.mutable_index() = chunk.index();
  behind.set_chunk_bytes(chunk.chunk_bytes());
  std::string bytes = header.SerializeAsString();
  header.Clear();
  header.set_header_checksum(XXH64(bytes.data(), bytes.size(), 0));
  bytes += header.SerializeAsString() + behind.SerializeAsString();
  std::string front = "\x0a";
  std::size_t size = bytes.size();
  for (; size >= 0x80; size >>= 7) front += static_cast<char>(0x80 | (size & 0x7f));
  return front + static_cast<char>(size) + bytes;
}

std::string Delimited(const v1::Part& part) {
  std::string bytes;
  for (const v1::Chunk& chunk : part.chunk()) bytes += Delimited(chunk);
  return bytes;
}

void ProcessBuilder::StartChunk(bool keyframe) {
  payload_.Clear();
  tensor_rows_.clear();
  last_impl_ = last_storage_ = 0;
  chunk_event_count_ = 0;
  if (part_is_new_) {
    defined_.clear();
    part_is_new_ = false;
  }
  chunk_has_keyframe_ = keyframe;
  if (keyframe) FillKeyframe(payload_.mutable_keyframe());
}

void ProcessBuilder::FillKeyframe(v1::Keyframe* keyframe) {
  keyframe->set_tick(tick_);
  keyframe->set_events_before(events_);
  keyframe->set_ranges_off(level_ != v1::LEVEL_ALL);
  keyframe->set_memory_off(level_ == v1::LEVEL_OFF);
  for (const auto& [device, totals] : totals_) *keyframe->add_devices() = totals;
  v1::LiveBlocks* live = keyframe->mutable_live();
  std::uint64_t last_address = 0, last_serial = 0, last_tick = 0;
  for (const auto& [where, block] : live_) {
    live->add_address_delta(Difference(where.second, last_address));
    live->add_bytes(block.bytes);
    live->add_serial_delta(Difference(block.serial, last_serial));
    live->add_device(where.first);
    live->add_tick_delta(Difference(block.tick, last_tick));
    live->add_thread(block.thread);
    live->add_operator_name(block.operator_name);
    live->add_leaf_name(block.leaf_name);
  }
  const auto has_stack = [](const auto& block) { return !block.second.python.empty(); };
  if (std::ranges::any_of(live_, has_stack)) {
    for (const auto& [where, block] : live_) live->add_stack(StackIdOf(block.python));
  }
  FillDriver(keyframe);
  for (const auto& [id, on] : threads_) {
    if (on.stack.empty()) continue;
    v1::OpenRanges* open = keyframe->add_open();
    open->set_thread(id);
    for (const OpenRange& range : on.stack) {
      open->mutable_kind()->push_back(static_cast<char>(range.kind));
      open->add_name(range.name);
      open->add_begin_tick(range.tick);
    }
  }
  for (const auto& [name, totals] : operators_) {
    *keyframe->add_operators() = totals;
    keyframe->mutable_operators(keyframe->operators_size() - 1)->set_name(name);
  }
}

ProcessBuilder& ProcessBuilder::EndChunk(bool keyframe_next) {
  // A keyframe may name what this part has not defined yet.
  if (chunk_has_keyframe_) {
    for (const auto& [key, id] : std::map(names_)) {
      if (!key.second.starts_with('\3')) NameIdOf(key.second, key.first);  // stacks define their code
    }
  }
  for (auto& [id, on] : threads_) {
    if (!std::exchange(defined_[{kThread, id}], true)) {
      v1::ThreadDef* def = payload_.add_threads();
      def->set_id(id);
      def->set_os_id(1000 + id);
      def->set_torch_id(id);
      def->set_name(on.name);
      def->set_works_for(on.works_for);
    }
    if (on.run.kind().empty()) continue;
    const bool all_cpu = std::all_of(on.devices.begin(), on.devices.end(), [](std::uint32_t d) { return d == 0; });
    if (!all_cpu) on.run.mutable_device()->Assign(on.devices.begin(), on.devices.end());
    if (std::ranges::all_of(on.run.correlation_delta(), [](std::int64_t d) { return d == 0; }))
      on.run.clear_correlation_delta();
    payload_.add_runs()->Swap(&on.run);
    on.run.Clear();
  }
  for (const v1::DeviceDef& device : devices_) {
    if (!std::exchange(defined_[{kDevice, device.id()}], true)) *payload_.add_devices() = device;
  }
  *payload_.mutable_clock() = ClockAt(tick_, options_);
  *payload_.mutable_counters() = counters_;
  v1::Chunk chunk;
  chunk.set_event_count(chunk_event_count_);
  for (const v1::ThreadRun& run : payload_.runs()) {
    std::uint64_t last = run.first_tick();
    for (const std::uint64_t delta : run.tick_delta()) last += delta;
    chunk.set_first_tick(chunk.first_tick() == 0 ? run.first_tick() : std::min(chunk.first_tick(), run.first_tick()));
    chunk.set_last_tick(std::max(chunk.last_tick(), last));
  }
  chunk.set_complete_until_tick(tick_ - 1);
  chunk.set_has_keyframe(chunk_has_keyframe_);
  Seal(payload_, &chunk);
  WriteChunk(chunk);
  StartChunk(keyframe_next);
  return *this;
}

void ProcessBuilder::WriteChunk(v1::Chunk& chunk) {
  chunk.set_sequence(sequence_++);
  chunk.set_recording(options_.recording);
  if (parts_.back().empty() || std::exchange(process_again_, false)) {
    info_.set_part(options_.first_part + static_cast<std::uint32_t>(parts_.size() - 1));
    *chunk.mutable_process() = info_;
  }
  const std::string bytes = Delimited(chunk);
  v1::ChunkRef* ref = indices_.back().add_chunks();
  ref->set_offset(parts_.back().size());
  ref->set_bytes(bytes.size());
  ref->set_first_tick(chunk.first_tick());
  ref->set_last_tick(chunk.last_tick());
  ref->set_event_count(chunk.event_count());
  ref->set_has_keyframe(chunk.has_keyframe());
  chunk_offsets_.back().push_back(parts_.back().size());
  parts_.back() += bytes;
}

void ProcessBuilder::AppendIndex() {
  v1::Chunk chunk;
  chunk.set_sequence(sequence_++);
  chunk.set_recording(options_.recording);
  if (chunk.recording() != 0) chunk.set_header_checksum(1);  // for its size
  *chunk.mutable_index() = indices_.back();
  chunk.set_chunk_bytes(chunk.ByteSizeLong() + 9);
  chunk_offsets_.back().push_back(parts_.back().size());
  parts_.back() += Delimited(chunk);
}

ProcessBuilder& ProcessBuilder::SkipChunks(std::uint64_t chunks) {
  EndChunk();
  sequence_ += chunks;
  return *this;
}

ProcessBuilder& ProcessBuilder::EndPart(bool with_index) {
  EndChunk();
  if (with_index) AppendIndex();
  chunk_offsets_.back().push_back(parts_.back().size());
  parts_.emplace_back();
  chunk_offsets_.emplace_back();
  indices_.emplace_back();
  part_is_new_ = true;
  StartChunk(true);
  return *this;
}

ProcessBuilder& ProcessBuilder::RenumberDictionaries() {
  names_.clear();
  layouts_.clear();
  signatures_.clear();
  return *this;
}

ProcessBuilder& ProcessBuilder::RemovePart(std::uint32_t part) {
  removed_.resize(std::max<std::size_t>(removed_.size(), part + 1));
  removed_[part] = true;
  return *this;
}

ProcessBuilder& ProcessBuilder::FoldParts(std::uint32_t parts) {
  for (std::uint32_t part = 0; part < parts; ++part) FoldPart(part);
  return *this;
}

ProcessBuilder& ProcessBuilder::FoldPart(std::uint32_t part) {
  RemovePart(part);
  for (const v1::ChunkRef& chunk : indices_[part].chunks()) {
    counters_.set_folded_events(counters_.folded_events() + chunk.event_count());
  }
  counters_.set_folded_parts(counters_.folded_parts() + 1);
  return *this;
}

ProcessBuilder& ProcessBuilder::set_host_at_end(const v1::HostReading& numbers) {
  *end_.mutable_host() = numbers;
  return *this;
}

ProcessBuilder& ProcessBuilder::set_end(v1::End::Reason reason, const std::string& message) {
  end_.set_reason(reason);
  end_.set_message(message);
  return *this;
}

ProcessBuilder& ProcessBuilder::Kill() {
  killed_ = true;
  return *this;
}

void ProcessBuilder::Finish() {
  if (std::exchange(finished_, true)) return;
  if (!killed_) *payload_.mutable_end() = end_;
  EndChunk();
  if (!killed_) AppendIndex();
  chunk_offsets_.back().push_back(parts_.back().size());
}

const std::vector<std::string>& ProcessBuilder::parts() {
  Finish();
  return parts_;
}

std::string ProcessBuilder::FileName(std::uint32_t part) const {
  char name[256];
  std::snprintf(name, sizeof name, "r%05u.a%u.%s.%llu.p%04u.memoir", options_.rank, options_.restart,
                options_.host.c_str(), static_cast<unsigned long long>(options_.pid), part);
  return name;
}

void ProcessBuilder::WriteTo(const std::string& folder) {
  Finish();
  std::filesystem::create_directories(folder);
  for (std::uint32_t part = 0; part < parts_.size(); ++part) {
    if (part < removed_.size() && removed_[part]) continue;
    WriteFile(folder + "/" + FileName(part), parts_[part]);
  }
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = std::filesystem::temp_directory_path() / "memoir-test-XXXXXX";
  path_ = mkdtemp(pattern.data());
}
TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace memoir::testing
