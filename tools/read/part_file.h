// Reads one part file: the places and headers of its chunks, and the payload of a chunk on request.
//
// Reads with pread and not mmap. So a file that shrinks or cannot be read causes damage and not a SIGBUS. Ignores the
// index at the end: reading a chunk's header takes only two pages, and the index contains nothing that the chunks lack.
//
// Only ContinuePart changes a PartFile. A PayloadReader belongs to one thread.
#ifndef TOOLS_READ_PART_FILE_H_
#define TOOLS_READ_PART_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "memoir/v1/capture.pb.h"
#include "tools/read/damage.h"

struct ZSTD_DCtx_s;  // zstd.h

namespace memoir {

inline constexpr std::uint64_t kMaxPayloadBytes = 64u << 20;

struct ChunkHeader {
  std::uint64_t offset = 0;  // offset of the chunk's tag in the file
  std::uint64_t payload_offset = 0;
  std::uint64_t stored_bytes = 0;  // size of the compressed payload; 0: no payload (the index)
  std::uint64_t payload_bytes = 0;
  std::uint64_t checksum = 0;
  std::uint64_t sequence = 0;
  std::uint64_t first_tick = 0;
  std::uint64_t last_tick = 0;
  std::uint64_t event_count = 0;
  std::uint64_t complete_until_tick = 0;
  bool has_keyframe = false;
  std::uint64_t recording = 0;  // identifies the recording; 0: an early version, whose headers have no checksum
};

struct PartFile {
  std::string path;
  std::uint64_t file_bytes = 0;
  v1::ProcessInfo process;          // from the newest chunk that contains a ProcessInfo
  std::vector<ChunkHeader> chunks;  // all chunks before the damage
  bool closed_in_order = false;     // ends with an index
  std::optional<Damage> damage;     // the damage at which reading ended, if before the end of the file
  // Damage at which reading did not end: chunks of other recordings, which are not in `chunks`, and a wrong header of
  // the first chunk, which is in `chunks`.
  std::vector<Damage> passed_over;
  std::string newer;               // why the part is refused, if a newer Memoir wrote it; `chunks` is then empty
  std::uint64_t walked_bytes = 0;  // bytes from the begin of the file to the end of the last complete chunk
  bool ends_in_chunk = false;      // the only damage is an incomplete last chunk, as in a part that is being written
  std::uint64_t recording = 0;     // the recording of the part's first chunk
};

// Opens a part, and reads the headers of its chunks. InvalidArgument: the file is not a part of a capture. DataLoss:
// the file ends before its first chunk is complete. A newer format is not an error: see PartFile::newer.
absl::StatusOr<PartFile> OpenPart(const std::string& path);

// Appends the chunks that were written since `part` was opened or last continued. NotFound: the file was removed.
// DataLoss: the file became shorter.
absl::Status ContinuePart(PartFile* part);

class PayloadReader {
 public:
  PayloadReader();
  ~PayloadReader();
  PayloadReader(const PayloadReader&) = delete;
  PayloadReader& operator=(const PayloadReader&) = delete;

  // Verifies the checksum and decompresses the payload. An error message has the form of Damage::what.
  absl::Status Read(const PartFile& part, const ChunkHeader& chunk, std::string* payload);

 private:
  absl::Status OpenFile(const std::string& path);
  ZSTD_DCtx_s* const decompressor_;
  int file_ = -1;
  std::string path_;
  std::string stored_;
};

}  // namespace memoir

#endif  // TOOLS_READ_PART_FILE_H_
