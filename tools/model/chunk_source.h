// The chunks of a capture in the order of a replay, decoded ahead by a second thread.
//
//     decoding thread: pread, xxh64, zstd, columns ──► bounded queue ──► replay (the caller's thread)
//
// The queue is bounded in bytes, so that memory does not depend on which side is slower.
#ifndef TOOLS_MODEL_CHUNK_SOURCE_H_
#define TOOLS_MODEL_CHUNK_SOURCE_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tools/model/decoded_chunks.h"
#include "tools/read/damage.h"
#include "tools/read/folder.h"
#include "tools/read/payload.h"

namespace memoir {

// A chunk that a replay works on.
struct Chunk {
  const std::string* file = nullptr;  // the CaptureFolder's
  ChunkHeader header;
  std::shared_ptr<const Payload> payload;
  bool part_begins = false;  // the first of its part that is replayed: earlier names, layouts and signatures end here
  bool memory_alone = false;  // what is allocated is shown, and not what runs (replayer_skim.cc)
  std::vector<std::uint8_t> tensor_is_known;  // per row of the tensor table: the replay has looked at its storage
};

struct SourceItem {
  enum class Kind : std::uint8_t {
    kProcessBegin,
    kChunk,
    kLost,
    kEvicted,  // parts that --max-size removed would stand here
    kDamage,
    kProcessEnd,
  };
  Kind kind = Kind::kChunk;
  std::size_t process = 0;
  std::shared_ptr<Chunk> chunk;   // kChunk
  std::uint64_t lost_chunks = 0;  // kLost
  Damage damage;                  // kDamage: the rest of that part is left out
  std::uint64_t file_bytes_done = 0;
};

class ChunkSource {
 public:
  static constexpr std::uint64_t kMaxQueuedBytes = 192u << 20;
  static constexpr std::size_t kMaxQueuedItems = 16;

  // `folder` and `decoded` must outlive it. `wanted`: only these of its processes.
  ChunkSource(const CaptureFolder& folder, DecodedChunks& decoded, std::set<std::size_t> wanted);
  ~ChunkSource();  // may be called in the middle
  ChunkSource(const ChunkSource&) = delete;
  ChunkSource& operator=(const ChunkSource&) = delete;

  bool Next(SourceItem* item);

 private:
  void Produce();
  void ProduceProcess(std::size_t process);
  bool ProduceGap(std::size_t process, const PartFile& part, const ChunkHeader& header);
  bool ProducePart(std::size_t process, const PartFile& part, std::size_t first_chunk, SignatureTensors* signatures);
  absl::Status Decode(const PartFile& part, Chunk& chunk, SignatureTensors* signatures);
  bool Push(SourceItem item);  // false: stopped

  const CaptureFolder& folder_;
  DecodedChunks& decoded_;
  const std::set<std::size_t> wanted_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<SourceItem> queue_;  // all below: under mutex_
  std::uint64_t queued_bytes_ = 0;
  bool stopped_ = false;
  bool done_ = false;

  PayloadReader reader_;  // the decoding thread's alone, like the next six
  std::uint64_t expected_sequence_ = 0;
  bool sequence_known_ = false;
  std::uint64_t expected_part_ = 0;
  std::uint64_t evicted_parts_ = 0;  // of those not there yet
  bool evicted_known_ = false;
  std::uint64_t file_bytes_done_ = 0;
  std::thread thread_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_CHUNK_SOURCE_H_
