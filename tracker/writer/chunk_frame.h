// From a Payload to the bytes of a chunk on file: zstd, checksum, header fields, tag and length. One thread; buffers
// are reused.
#ifndef TRACKER_WRITER_CHUNK_FRAME_H_
#define TRACKER_WRITER_CHUNK_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tracker/writer/part_sink.h"

struct ZSTD_CCtx_s;

namespace memoir {

struct ChunkHeader {
  std::uint64_t sequence = 0;
  std::uint64_t complete_until_tick = 0;
  ChunkFacts facts;
  std::string_view process;  // encoded ProcessInfo, in a part's first chunk
};

class ChunkFrame {
 public:
  // `recording`: what all of its chunks carry (RecordingOf).
  explicit ChunkFrame(std::uint64_t recording);
  ~ChunkFrame();

  // The view is valid until the next call.
  std::string_view Payload(const ChunkHeader& header, std::string_view payload);
  // The last chunk of a part: its index and, as its last bytes, its own length.
  std::string_view Index(std::uint64_t sequence, std::string_view index);

 private:
  char* Room(std::size_t bytes);

  const std::uint64_t recording_;
  ZSTD_CCtx_s* context_;
  // Compression must have room for the worst case and fills a part of it: the rest stays untouched and takes no memory.
  std::unique_ptr<char[]> room_;
  std::size_t room_bytes_ = 0;
  std::string index_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_CHUNK_FRAME_H_
