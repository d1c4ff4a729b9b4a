// Supplies the chunks of a capture in the order in which a replay takes them. A separate thread decodes them in
// advance.
//
//     decoding thread: pread, xxh64, zstd, columns ──► bounded queue ──► replay (the caller's thread)
//
// The queue has a limit of bytes, so memory does not grow if the replay is slower than the decoding.
#ifndef TOOLS_MODEL_PARTS_CHUNK_SOURCE_H_
#define TOOLS_MODEL_PARTS_CHUNK_SOURCE_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tools/model/parts/decoded_chunks.h"
#include "tools/read/capture_folder.h"
#include "tools/read/chunk/payload.h"
#include "tools/read/damage.h"

namespace memoir {

// A decoded chunk, and its state in a replay.
struct Chunk {
  const std::string* file = nullptr;  // path of the part, owned by the CaptureFolder
  ChunkHeader header;
  std::shared_ptr<const Payload> payload;
  // True for the first replayed chunk of its part. The ids of the previous part's dictionaries are then invalid.
  bool part_begins = false;
  bool is_skimmed = false;  // true: operators are not visited (replay/skimmed_events.h)
  // One value for each row of the tensor table. 1: the replay has checked whether the storage of this tensor is first
  // seen (FirstSeenEvent).
  std::vector<std::uint8_t> tensor_is_known;
};

// An item of the queue: a chunk, or something else that a replay must know at this place between chunks.
struct SourceItem {
  enum class Kind : std::uint8_t {
    kProcessBegin,
    kChunk,
    kLost,
    kEvicted,  // parts directly before the next chunk were evicted (--max-size)
    kDamage,
    kProcessEnd,
  };
  Kind kind = Kind::kChunk;
  std::size_t process = 0;
  std::shared_ptr<Chunk> chunk;       // set for kChunk
  std::uint64_t lost_chunks = 0;      // number of missing chunks; set for kLost and kEvicted
  Damage damage;                      // set for kDamage; the rest of the damaged part is not replayed
  std::uint64_t file_bytes_done = 0;  // size of the parts that are decoded completely
};

class ChunkSource {
 public:
  static constexpr std::uint64_t kMaxQueuedBytes = 192u << 20;
  static constexpr std::size_t kMaxQueuedItems = 16;

  // `folder` and `decoded` must outlive this object. `wanted`: indices of the processes to replay.
  ChunkSource(const CaptureFolder& folder, DecodedChunks& decoded, std::set<std::size_t> wanted);
  ~ChunkSource();  // stops the decoding thread, even if chunks remain
  ChunkSource(const ChunkSource&) = delete;
  ChunkSource& operator=(const ChunkSource&) = delete;

  // Waits for the next item. Returns false if there are no more items.
  bool Next(SourceItem* item);

 private:
  // The decoding thread runs Produce, which calls the other functions. A function that returns bool returns false if
  // the destructor has stopped the decoding.
  void Produce();
  void ProduceProcess(std::size_t process);
  bool ProduceGap(std::size_t process, const PartFile& part, const ChunkHeader& header);
  bool ProducePart(std::size_t process, const PartFile& part, std::size_t first_chunk, SignatureCountsById* signatures);
  absl::Status Decode(const PartFile& part, Chunk& chunk, SignatureCountsById* signatures);
  bool Push(SourceItem item);

  const CaptureFolder& folder_;
  DecodedChunks& decoded_;
  const std::set<std::size_t> wanted_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<SourceItem> queue_;  // from here to `done_`: guarded by mutex_
  std::uint64_t queued_bytes_ = 0;
  bool stopped_ = false;
  bool done_ = false;

  PayloadReader reader_;  // from here to `file_bytes_done_`: used by the decoding thread alone
  // Numbers that the next chunk and the next part have if nothing is missing. `sequence_known_` is false before the
  // first chunk of a process, and `evicted_known_` is false until evicted_parts_ is set for the process.
  std::uint64_t expected_sequence_ = 0;
  bool sequence_known_ = false;
  std::uint64_t expected_part_ = 0;
  std::uint64_t evicted_parts_ = 0;  // evicted parts for which no kEvicted item was pushed yet
  bool evicted_known_ = false;
  std::uint64_t file_bytes_done_ = 0;
  std::thread thread_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_PARTS_CHUNK_SOURCE_H_
