// Keeps decoded chunks in memory, so that later replays of the same capture need not decode them again. A chunk is kept
// while a Capture::SharedDecoding exists, if it fits into kMaxBytes together with the chunks that are kept already. Any
// thread.
#ifndef TOOLS_MODEL_PARTS_DECODED_CHUNKS_H_
#define TOOLS_MODEL_PARTS_DECODED_CHUNKS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "tools/read/chunk/payload.h"
#include "tools/read/part_file.h"

namespace memoir {

class DecodedChunks {
 public:
  static constexpr std::uint64_t kMaxBytes = 256u << 20;

  // Share is called when a Capture::SharedDecoding is created. Release is called when it is destroyed, and
  // removes all chunks if no other SharedDecoding exists.
  void Share() {
    const std::lock_guard lock(mutex_);
    ++sharing_;
  }
  void Release() {
    const std::lock_guard lock(mutex_);
    if (--sharing_ > 0) return;
    chunks_.clear();
    bytes_ = 0;
  }

  // Returns nullptr if the chunk is not kept.
  std::shared_ptr<const Payload> Find(const PartFile& part, std::uint64_t offset) const {
    const std::lock_guard lock(mutex_);
    const auto found = chunks_.find({&part, offset});
    return found == chunks_.end() ? nullptr : found->second;
  }
  void Keep(const PartFile& part, std::uint64_t offset, const std::shared_ptr<const Payload>& payload) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t bytes = payload->memory_bytes();
    if (sharing_ == 0 || bytes_ + bytes > kMaxBytes) return;
    if (chunks_.try_emplace({&part, offset}, payload).second) bytes_ += bytes;
  }

 private:
  mutable std::mutex mutex_;
  int sharing_ = 0;
  std::uint64_t bytes_ = 0;
  absl::flat_hash_map<std::pair<const PartFile*, std::uint64_t>, std::shared_ptr<const Payload>> chunks_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_PARTS_DECODED_CHUNKS_H_
