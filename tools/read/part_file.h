// One part file: where its chunks stand and what their headers say, and their payloads on demand.
//
// Reads with pread, not mmap: a file that shrinks or fails below us is damage then, and no SIGBUS. The index at the end
// is not needed: walking reads two pages a chunk, and the index says nothing that the chunks do not.
//
// A PartFile is immutable, but for ContinuePart; PayloadReader belongs to one thread.
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
  std::uint64_t offset = 0;  // of its tag in the file
  std::uint64_t payload_offset = 0;
  std::uint64_t stored_bytes = 0;  // compressed; 0: no payload (the index)
  std::uint64_t payload_bytes = 0;
  std::uint64_t checksum = 0;
  std::uint64_t sequence = 0;
  std::uint64_t first_tick = 0;
  std::uint64_t last_tick = 0;
  std::uint64_t event_count = 0;
  std::uint64_t complete_until_tick = 0;
  bool has_keyframe = false;
  std::uint64_t recording = 0;  // 0: an early version's, whose headers have no checksum
};

struct PartFile {
  std::string path;
  std::uint64_t file_bytes = 0;
  v1::ProcessInfo process;          // as the last chunk that says so has it
  std::vector<ChunkHeader> chunks;  // all before the damage
  bool closed_in_order = false;     // ends with an index
  std::optional<Damage> damage;     // where the walk ended, if not at the end
  std::vector<Damage> passed_over;  // before that: chunks of other recordings, which are not in `chunks`, and the like
  std::string newer;                // why it is refused, if a newer Memoir wrote it: only `process` is known then
  std::uint64_t walked_bytes = 0;   // of whole chunks
  bool ends_in_chunk = false;       // `damage` is that alone: what is being written looks so
  std::uint64_t recording = 0;      // of its first chunk
};

// InvalidArgument: not a capture. DataLoss: cut before its first chunk was complete. A newer format is no error: see
// `newer`.
absl::StatusOr<PartFile> OpenPart(const std::string& path);

// Appends the chunks that have come since, of a part that is being written. NotFound: it is gone. DataLoss: shortened.
absl::Status ContinuePart(PartFile* part);

class PayloadReader {
 public:
  PayloadReader();
  ~PayloadReader();
  PayloadReader(const PayloadReader&) = delete;
  PayloadReader& operator=(const PayloadReader&) = delete;

  // Checks the checksum and decompresses into `payload`. The message of an error is what Damage::what wants.
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
