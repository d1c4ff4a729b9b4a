#include "tools/import/files/chunk_bytes.h"

#include <xxhash.h>
#include <zstd.h>

#include <cstddef>
#include <utility>

namespace memoir {
namespace {

constexpr int kZstdLevel = 1;
constexpr char kBetween = '\0';

}  // namespace

std::string HashOf(const v1::NameDef& name) {
  std::string all(1, static_cast<char>(name.kind()));
  if (name.kind() == v1::NameDef::CODE) all.append(name.code_file()).push_back(kBetween);
  if (name.kind() == v1::NameDef::MODULE) all.append(name.module_root()).push_back(kBetween);
  all += name.text();
  if (name.kind() == v1::NameDef::MODULE) all.append(1, kBetween).append(name.module_class());
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(all.data(), all.size()));
  return std::string(reinterpret_cast<const char*>(canonical.digest), sizeof canonical.digest);
}

void PackPayload(const v1::Payload& payload, v1::Chunk& chunk) {
  const std::string plain = payload.SerializeAsString();
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), kZstdLevel));
  chunk.set_checksum(XXH64(packed.data(), packed.size(), 0));
  chunk.set_payload_bytes(plain.size());
  chunk.set_payload(std::move(packed));
}

std::string EncodeChunk(v1::Chunk chunk) {
  // Order: the header, its checksum, and the fields that the checksum does not cover.
  v1::Chunk behind;
  behind.set_payload(std::move(*chunk.mutable_payload()));
  chunk.clear_payload();
  if (chunk.has_index()) behind.mutable_index()->Swap(chunk.mutable_index());
  chunk.clear_index();
  chunk.clear_header_checksum();
  chunk.clear_chunk_bytes();
  std::string bytes = chunk.SerializeAsString();
  if (chunk.recording() != 0) {
    v1::Chunk checksum;
    checksum.set_header_checksum(XXH64(bytes.data(), bytes.size(), 0));
    bytes += checksum.SerializeAsString();
  }
  if (behind.has_index()) {  // the field chunk_bytes has a fixed size, and its value includes this size
    behind.set_chunk_bytes(1);
    behind.set_chunk_bytes(bytes.size() + behind.ByteSizeLong());
  }
  bytes += behind.SerializeAsString();
  std::string front = "\x0a";
  std::size_t size = bytes.size();
  for (; size >= 0x80; size >>= 7) front += static_cast<char>(0x80 | (size & 0x7f));
  front += static_cast<char>(size);
  return front + bytes;
}

}  // namespace memoir
