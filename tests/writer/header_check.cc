#include "tests/writer/header_check.h"

#include <utility>

#include <xxhash.h>

namespace memoir::test {

std::string WhatIsWrongWithHeader(const memoir::v1::Chunk& chunk, const std::string& bytes, std::uint64_t* recording) {
  memoir::v1::Chunk sum, behind;
  sum.set_header_checksum(chunk.header_checksum());
  const std::size_t size = bytes.find(sum.SerializeAsString());
  if (size == std::string::npos) return "no checksum of its header";
  if (XXH64(bytes.data(), size, 0) != chunk.header_checksum()) return "checksum of its header";
  behind.ParseFromArray(bytes.data() + size, static_cast<int>(bytes.size() - size));
  behind.clear_payload();
  behind.clear_index();
  behind.clear_chunk_bytes();
  if (behind.SerializeAsString() != sum.SerializeAsString()) return "fields behind the checksum of its header";
  const std::uint64_t before = std::exchange(*recording, chunk.recording());
  if (*recording == 0 || (before != 0 && before != *recording)) return "recording";
  return "";
}

}  // namespace memoir::test
