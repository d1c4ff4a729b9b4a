#include "tools/redact/redacted_capture.h"

#include <cstdint>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "memoir/v1/capture.pb.h"
#include "tools/import/files/chunk_bytes.h"
#include "tools/read/regular_file.h"
#include "tools/read/symbols.h"
#include "tools/redact/hashed_words.h"
#include "tools/redact/redacted_messages.h"

namespace memoir {
namespace {

// Returns the chunk's header fields without the payload's.
v1::Chunk HeaderOf(const ChunkHeader& header) {
  v1::Chunk chunk;
  chunk.set_sequence(header.sequence);
  chunk.set_first_tick(header.first_tick);
  chunk.set_last_tick(header.last_tick);
  chunk.set_event_count(header.event_count);
  chunk.set_complete_until_tick(header.complete_until_tick);
  chunk.set_has_keyframe(header.has_keyframe);
  chunk.set_recording(header.recording);
  return chunk;
}

// Fills in a payload that readers report as damaged.
void PackDamage(const ChunkHeader& header, v1::Chunk& chunk) {
  chunk.set_checksum(0);
  chunk.set_payload_bytes(header.payload_bytes);
  chunk.set_payload(std::string(1, '\0'));
}

void PackRedacted(const PartFile& part, const ChunkHeader& header, PayloadReader& reader, NameHashes& hashes,
                  v1::Chunk& chunk) {
  std::string bytes;
  v1::Payload payload;
  if (!reader.Read(part, header, &bytes).ok() || !payload.ParseFromString(bytes)) {
    PackDamage(header, chunk);
    return;
  }
  Redact(payload, hashes);
  PackPayload(payload, chunk);
}

// Returns the digits after "r" or "p" in a part's name, or `otherwise` if there are no digits.
std::string FieldOf(const std::string& name, char letter, std::uint64_t otherwise) {
  const std::string mark = std::string(letter == 'r' ? "" : ".") + letter;
  const std::size_t at = letter == 'r' ? (name.starts_with('r') ? 0 : std::string::npos) : name.rfind(mark);
  if (at == std::string::npos) return absl::StrFormat("%05d", otherwise);
  const std::string rest = name.substr(at + mark.size());
  const std::string digits = rest.substr(0, rest.find('.'));
  return IsDigits(digits) && digits.size() <= 9 ? digits : absl::StrFormat("%05d", otherwise);
}

}  // namespace

std::string RedactedFileName(const PartFile& part, NameHashes& hashes) {
  const std::string name = std::filesystem::path(part.path).filename().string();
  const v1::ProcessInfo& info = part.process;
  return absl::StrCat("r", FieldOf(name, 'r', info.rank()), ".a", info.restart(), ".",
                      info.host().empty() ? "host" : HashedText(info.host(), hashes), ".", info.pid(), ".p",
                      FieldOf(name, 'p', info.part()), ".memoir");
}

void WriteRedactedPart(const PartFile& part, NameHashes& hashes, const WriteBytes& write) {
  v1::Index index;
  PayloadReader reader;
  std::uint64_t offset = 0;
  for (const ChunkHeader& header : part.chunks) {
    v1::Chunk chunk = HeaderOf(header);
    if (offset == 0) {
      *chunk.mutable_process() = part.process;
      Redact(*chunk.mutable_process(), hashes);
    }
    if (header.stored_bytes == 0) {
      *chunk.mutable_index() = index;
    } else {
      PackRedacted(part, header, reader, hashes, chunk);
    }
    v1::ChunkRef* const ref = index.add_chunks();
    ref->set_offset(offset);
    ref->set_first_tick(header.first_tick);
    ref->set_last_tick(header.last_tick);
    ref->set_event_count(header.event_count);
    ref->set_has_keyframe(header.has_keyframe);
    const std::string bytes = EncodeChunk(std::move(chunk));
    ref->set_bytes(bytes.size());
    offset += bytes.size();
    write(bytes);
  }
  constexpr std::string_view kCutChunk = "\x0a\x02\x08";  // a chunk of two bytes, cut after the first
  if (part.damage) write(kCutChunk);
}

absl::StatusOr<std::string> RedactedSymbols(const std::string& capture, NameHashes& hashes) {
  const std::string path = SymbolsPath(capture);
  const absl::StatusOr<RegularFile> file = RegularFile::Open(path);
  if (absl::IsNotFound(file.status())) return "";
  if (!file.ok()) return file.status();
  const absl::StatusOr<std::string> bytes = file->Read(kMostSymbolBytes);
  if (!bytes.ok()) return bytes.status();
  v1::Symbols symbols;
  if (!symbols.ParseFromString(*bytes)) return absl::InvalidArgumentError("names of native frames are damaged");
  Redact(symbols, hashes);
  return symbols.SerializeAsString();
}

}  // namespace memoir
