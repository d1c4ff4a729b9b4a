// The memory of one device as its caching allocator counts it: allocated, active and reserved bytes, in all and by the
// pools for small and large blocks, rebuilt from events. PyTorch's meanings: docs/event_schema.md.
//
// Knows no thread and no operator; the replayer keeps one for each device. Not thread-safe.
#ifndef TOOLS_MODEL_DEVICE_MEMORY_H_
#define TOOLS_MODEL_DEVICE_MEMORY_H_

#include <cstdint>
#include <map>
#include <optional>

#include "absl/container/flat_hash_map.h"

namespace memoir {

struct PoolBytes {
  std::uint64_t all = 0;
  std::uint64_t small = 0;  // blocks of up to 1 MiB, and the segments that they are cut from
  std::uint64_t large() const { return all - small; }
  void Add(std::uint64_t bytes, bool is_small) {
    all += bytes;
    if (is_small) small += bytes;
  }
  void Take(std::uint64_t bytes, bool is_small) {
    all -= bytes;
    if (is_small) small -= bytes;
  }
};

// What the allocator has taken from the device in one piece: a segment, or of an expandable one what it mapped at once.
struct ReservedPiece {
  std::uint64_t bytes = 0;
  std::uint64_t stream = 0;
  std::uint32_t pool_graph = 0;  // private pool; both 0: the default one
  std::uint32_t pool_user = 0;
  bool small = false;   // of the pool for blocks of up to 1 MiB
  bool mapped = false;  // of an expandable segment; of what was found, or lies in a keyframe, it is not known
};

class DeviceMemory {
 public:
  // Whether a caching allocator has it: whether active and reserved bytes are known.
  bool caching() const { return caching_; }
  const PoolBytes& allocated() const { return allocated_; }
  const PoolBytes& active() const { return active_; }
  const PoolBytes& reserved() const { return reserved_; }
  std::uint64_t requested_bytes() const { return requested_; }  // of active blocks, as torch has it
  std::uint64_t alloc_retries() const { return alloc_retries_; }
  std::uint64_t ooms() const { return ooms_; }

  void Allocate(std::uint64_t bytes, std::uint64_t requested);
  // The program has given the block back; it stays active until CompleteFree.
  void RequestFree(std::uint64_t address, std::uint64_t bytes, std::uint64_t requested, std::uint64_t serial);
  // The block is gone altogether: its end was lost.
  void Forget(std::uint64_t bytes, std::uint64_t requested);
  struct Freed {
    std::uint64_t bytes;
    std::uint64_t requested;
  };
  // What is active no more; nothing when no free was requested there before `serial`.
  std::optional<Freed> CompleteFree(std::uint64_t address, std::uint64_t serial);

  static bool IsSmallSegment(std::uint64_t bytes);
  void AddSegment(std::uint64_t address, const ReservedPiece& piece);
  void RemoveSegment(std::uint64_t address, std::uint64_t bytes);
  // Nothing is known to be reserved, or to wait for its free, any more. Blocks stay.
  void ForgetSegments();
  // What a snapshot finds comes record by record, all of one thread: what is held in between was never so. `by`: that
  // thread; any other event of it on this device is behind the last of them.
  void BeginFinding(std::uint32_t by) { finder_ = by; }
  void EndFinding(std::uint32_t by) {
    if (finder_ == by) finder_.reset();
  }
  bool is_being_found() const { return finder_.has_value(); }
  // By address; they do not overlap.
  const std::map<std::uint64_t, ReservedPiece>& reserved_pieces() const { return segments_; }
  // Blocks that the program has given back and the allocator does not have back: address and bytes.
  template <class Function>
  void ForEachWaiting(Function function) const {
    for (const auto& [address, waiting] : freeing_) function(address, waiting.freed.bytes);
  }

  void CountOutOfMemory() {
    caching_ = true;
    ++ooms_;
  }
  void Count(std::uint64_t alloc_retries, std::uint64_t ooms) {
    caching_ = true;
    alloc_retries_ = alloc_retries;
    ooms_ = ooms;
  }

 private:
  void Deactivate(const Freed& freed);
  struct Freeing {
    Freed freed;
    std::uint64_t serial;
  };

  bool caching_ = false;
  std::optional<std::uint32_t> finder_;
  PoolBytes allocated_, active_, reserved_;
  std::uint64_t requested_ = 0;
  std::uint64_t alloc_retries_ = 0;
  std::uint64_t ooms_ = 0;
  absl::flat_hash_map<std::uint64_t, Freeing> freeing_;  // by address
  std::map<std::uint64_t, ReservedPiece> segments_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_DEVICE_MEMORY_H_
