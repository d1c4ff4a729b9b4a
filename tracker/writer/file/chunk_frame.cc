#include "tracker/writer/file/chunk_frame.h"

#include <memory>
#include <new>

#include <xxhash.h>
#include <zstd.h>
#include <protozero/pbf_writer.hpp>

#include "tracker/writer/events/capture_fields.h"

namespace memoir {
namespace {

constexpr int kLevel = 1;
// A larger buffer, which a large keyframe has needed, is replaced by a smaller one for the next chunk.
constexpr std::size_t kMaxKeptBytes = 2u << 20;

// Adds the id of the recording, and then the checksum of all fields that `bytes` contains.
void AddHeaderChecksum(std::uint64_t recording, std::string* bytes) {
  protozero::pbf_writer chunk(*bytes);
  chunk.add_fixed64(field::chunk::kRecording, recording);
  const std::uint64_t checksum = XXH64(bytes->data(), bytes->size(), 0);
  chunk.add_fixed64(field::chunk::kHeaderChecksum, checksum);
}

std::string EncodeHeader(const ChunkHeader& header, std::uint64_t recording, std::uint64_t checksum,
                         std::size_t payload_bytes) {
  std::string bytes;
  protozero::pbf_writer chunk(bytes);
  chunk.add_uint64(field::chunk::kSequence, header.sequence);
  if (!header.process.empty()) chunk.add_message(field::chunk::kProcess, header.process.data(), header.process.size());
  chunk.add_fixed64(field::chunk::kChecksum, checksum);
  chunk.add_uint64(field::chunk::kPayloadBytes, payload_bytes);
  chunk.add_uint64(field::chunk::kFirstTick, header.facts.first_tick);
  chunk.add_uint64(field::chunk::kLastTick, header.facts.last_tick);
  chunk.add_uint64(field::chunk::kEventCount, header.facts.event_count);
  chunk.add_uint64(field::chunk::kCompleteUntilTick, header.complete_until_tick);
  if (header.facts.has_keyframe) chunk.add_bool(field::chunk::kHasKeyframe, true);
  AddHeaderChecksum(recording, &bytes);
  return bytes;
}

void PutVarint(std::string* bytes, std::uint64_t value) { protozero::add_varint_to_buffer(bytes, value); }

void PutTag(std::string* bytes, std::uint32_t field, protozero::pbf_wire_type type) {
  PutVarint(bytes, (std::uint64_t{field} << 3) | static_cast<std::uint32_t>(type));
}

}  // namespace

ChunkFrame::ChunkFrame(std::uint64_t recording) : recording_(recording), context_(ZSTD_createCCtx()) {
  if (context_ == nullptr) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, kLevel);
}

ChunkFrame::~ChunkFrame() { ZSTD_freeCCtx(context_); }

std::string_view ChunkFrame::EncodePayload(const ChunkHeader& header, std::string_view payload) {
  // The length of the compressed frame precedes the frame, but is known only after compression. So the payload is
  // compressed behind a gap, and the fields in front of it are then written into the end of the gap.
  constexpr std::size_t kVarints = 2 * 10 + 2;
  const std::size_t gap = header.process.size() + 128 + kVarints;
  char* const bytes = Room(gap + ZSTD_compressBound(payload.size()));
  const std::size_t size = ZSTD_compress2(context_, bytes + gap, room_bytes_ - gap, payload.data(), payload.size());
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();  // the room suffices, so only memory can be missing

  std::string body = EncodeHeader(header, recording_, XXH64(bytes + gap, size, 0), payload.size());
  PutTag(&body, field::chunk::kPayload, protozero::pbf_wire_type::length_delimited);
  PutVarint(&body, size);
  std::string front;
  PutTag(&front, field::part::kChunk, protozero::pbf_wire_type::length_delimited);
  PutVarint(&front, body.size() + size);
  front += body;
  const std::size_t start = gap - front.size();
  front.copy(bytes + start, front.size());
  return {bytes + start, front.size() + size};
}

char* ChunkFrame::Room(std::size_t bytes) {
  if (room_bytes_ >= bytes && room_bytes_ <= kMaxKeptBytes) return room_.get();
  room_bytes_ = 0;
  room_.reset();
  room_ = std::make_unique_for_overwrite<char[]>(bytes);
  room_bytes_ = bytes;
  return room_.get();
}

std::string_view ChunkFrame::EncodeIndex(std::uint64_t sequence, std::string_view index) {
  std::string body;
  protozero::pbf_writer chunk(body);
  chunk.add_uint64(field::chunk::kSequence, sequence);
  AddHeaderChecksum(recording_, &body);
  chunk.add_message(field::chunk::kIndex, index.data(), index.size());
  constexpr std::size_t kLengthField = 1 + 8;  // tag 0x79 and a fixed64
  chunk.add_fixed64(field::chunk::kChunkBytes, body.size() + kLengthField);
  index_.clear();
  PutTag(&index_, field::part::kChunk, protozero::pbf_wire_type::length_delimited);
  PutVarint(&index_, body.size());
  index_ += body;
  return index_;
}

}  // namespace memoir
