// Encodes a Payload (capture.proto) as the bytes of a chunk: compresses it with zstd, and adds the header fields,
// checksums, tag and length. One thread, because the calls share buffers.
#ifndef TRACKER_WRITER_FILE_CHUNK_FRAME_H_
#define TRACKER_WRITER_FILE_CHUNK_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tracker/writer/file/part_sink.h"

struct ZSTD_CCtx_s;

namespace memoir {

// The header fields of a chunk that the caller provides.
struct ChunkHeader {
  std::uint64_t sequence = 0;
  std::uint64_t complete_until_tick = 0;
  ChunkFacts facts;
  std::string_view process;  // encoded ProcessInfo; only in the first chunk of a part, or after a change
};

class ChunkFrame {
 public:
  // `recording`: the id that all chunks of the recording contain (RecordingIdOf).
  explicit ChunkFrame(std::uint64_t recording);
  ~ChunkFrame();

  // Returns the bytes of a chunk. The result is valid until the next call.
  std::string_view EncodePayload(const ChunkHeader& header, std::string_view payload);
  // Returns the bytes of the last chunk of a part. It contains the part's index, and ends with its own length.
  std::string_view EncodeIndex(std::uint64_t sequence, std::string_view index);

 private:
  char* Room(std::size_t bytes);

  const std::uint64_t recording_;
  ZSTD_CCtx_s* context_;
  // A buffer with room for the largest possible result of the compression. The actual result is smaller. The rest of
  // the buffer is never written, and uses no memory.
  std::unique_ptr<char[]> room_;
  std::size_t room_bytes_ = 0;
  std::string index_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_FILE_CHUNK_FRAME_H_
