// The allocated, active and reserved bytes of one device, as the device's caching allocator counts them: in total, and
// for the pools of small and large blocks. A replay computes them from events. docs/event_schema.md defines the three
// terms.
//
// A replay has one DeviceMemory for each device. Not thread-safe.
#ifndef TOOLS_MODEL_DEVICE_MEMORY_H_
#define TOOLS_MODEL_DEVICE_MEMORY_H_

#include <cstdint>
#include <map>
#include <optional>

#include "absl/container/flat_hash_map.h"

namespace memoir {

// A sum of bytes, and how many of them belong to the pool of small blocks.
struct PoolBytes {
  std::uint64_t all = 0;
  // In a sum of blocks: bytes of blocks of up to 1 MiB. In a sum of segments: bytes of the segments for such blocks.
  std::uint64_t small = 0;
  std::uint64_t large() const { return all - small; }
  void Add(std::uint64_t bytes, bool is_small) {
    all += bytes;
    if (is_small) small += bytes;
  }
  void Remove(std::uint64_t bytes, bool is_small) {
    all -= bytes;
    if (is_small) small -= bytes;
  }
};

// Memory that the allocator reserved with one call: a segment, or one mapping of an expandable segment.
struct ReservedPiece {
  std::uint64_t bytes = 0;
  std::uint64_t stream = 0;
  std::uint32_t pool_graph = 0;  // identifies a private pool, together with `pool_user`; both 0: the default pool
  std::uint32_t pool_user = 0;
  bool small = false;   // true: the memory is for blocks of up to 1 MiB
  bool mapped = false;  // true: part of an expandable segment; false also if unknown (SEGMENT_FOUND, keyframes)
};

class DeviceMemory {
 public:
  // True if a caching allocator manages the device. Otherwise active and reserved bytes are unknown.
  bool caching() const { return caching_; }
  const PoolBytes& allocated() const { return allocated_; }
  const PoolBytes& active() const { return active_; }
  const PoolBytes& reserved() const { return reserved_; }
  std::uint64_t requested_bytes() const { return requested_; }  // requested bytes of active blocks
  std::uint64_t alloc_retries() const { return alloc_retries_; }
  std::uint64_t ooms() const { return ooms_; }

  // Adds a block to the allocated and the active bytes.
  void Allocate(std::uint64_t bytes, std::uint64_t requested);
  // Subtracts a block from the allocated bytes when the program has freed the block. The block stays active until
  // CompleteFree.
  void RequestFree(std::uint64_t address, std::uint64_t bytes, std::uint64_t requested, std::uint64_t serial);
  // Removes a block from the allocated and the active bytes. Called for a block that ends without a recorded free: its
  // free was lost, or recording was off.
  void ForgetBlock(std::uint64_t bytes, std::uint64_t requested);
  struct FreedBlock {
    std::uint64_t bytes;
    std::uint64_t requested;
  };
  // Removes the block at `address` from the active bytes, and returns its sizes. nullopt if no free with a serial of at
  // most `serial` is pending at `address`.
  std::optional<FreedBlock> CompleteFree(std::uint64_t address, std::uint64_t serial);

  // True if torch's allocator uses a segment of this size for blocks of up to 1 MiB.
  static bool IsSmallSegment(std::uint64_t bytes);
  void AddSegment(std::uint64_t address, const ReservedPiece& piece);
  // Removes the reserved pieces in the `bytes` from `address` on. A piece that lies partly outside is cut.
  void RemoveSegment(std::uint64_t address, std::uint64_t bytes);
  // Forgets all segments and pending frees. Allocated blocks stay. Called before a keyframe restores the segments and
  // pending frees. Also called when recording resumes, because they may have changed while it was off.
  void ForgetSegments();
  // When a recording begins or resumes, one thread records the segments and blocks that already exist, one event for
  // each. DeviceMemories::NoteFinding calls BeginFinding at each of these events, and EndFinding at other events.
  // Between the two calls, the sums are incomplete. `by` is the number of the thread of the event. EndFinding has no
  // effect if the last BeginFinding was for another thread.
  void BeginFinding(std::uint32_t by) { finder_ = by; }
  void EndFinding(std::uint32_t by) {
    if (finder_ == by) finder_.reset();
  }
  bool is_being_found() const { return finder_.has_value(); }
  // Returns the reserved pieces by address. They do not overlap.
  const std::map<std::uint64_t, ReservedPiece>& reserved_pieces() const { return segments_; }
  // Calls `function` with the address and the bytes of each block whose free is requested but not completed.
  template <class Function>
  void ForEachWaiting(Function function) const {
    for (const auto& [address, waiting] : pending_frees_) function(address, waiting.freed.bytes);
  }

  void CountOutOfMemory() {
    caching_ = true;
    ++ooms_;
  }
  void SetCounters(std::uint64_t alloc_retries, std::uint64_t ooms) {
    caching_ = true;
    alloc_retries_ = alloc_retries;
    ooms_ = ooms;
  }

 private:
  void Deactivate(const FreedBlock& freed);
  struct PendingFree {
    FreedBlock freed;
    std::uint64_t serial;
  };

  bool caching_ = false;
  std::optional<std::uint32_t> finder_;
  PoolBytes allocated_, active_, reserved_;
  std::uint64_t requested_ = 0;
  std::uint64_t alloc_retries_ = 0;
  std::uint64_t ooms_ = 0;
  absl::flat_hash_map<std::uint64_t, PendingFree> pending_frees_;  // by address
  std::map<std::uint64_t, ReservedPiece> segments_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_DEVICE_MEMORY_H_
