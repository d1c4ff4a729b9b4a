// The live driver allocations of one process: blocks of cudaMalloc and similar calls, pinned host memory, contexts, and
// loaded code (docs/event_schema.md, "Driver allocations").
//
// A replay has one DriverMemory, for the current process. Not thread-safe.
#ifndef TOOLS_MODEL_DRIVER_MEMORY_H_
#define TOOLS_MODEL_DRIVER_MEMORY_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "absl/types/span.h"
#include "memoir/v1/capture.pb.h"
#include "tools/model/event/driver_event.h"
#include "tools/model/event/ids.h"

namespace memoir {

class DriverMemory {
 public:
  // Bounds the memory that a hostile capture can use. No program has as many blocks.
  static constexpr std::size_t kMaxBlocks = std::size_t{1} << 20;

  // Adds `block`. The replay merges threads by tick, so it may visit the events of one address in another order than
  // they happened. The serials decide which block is live, so every order leads to the same live blocks. Returns false
  // if a later event at the address was visited already, or if there are kMaxBlocks blocks.
  bool Allocate(const DriverBlock& block);
  // Removes the block that a free ends, and returns it. nullopt if the block was allocated before the recording, is not
  // visited yet, or was removed already.
  std::optional<DriverBlock> Free(DeviceId device, std::uint64_t address, std::uint64_t serial);
  // Removes the blocks that were allocated before `tick`. Recording was off until `tick`, so they may have been freed
  // during that time.
  void ForgetBefore(Tick tick);
  // Sets the live blocks to `live`. A block that was live before keeps its names of ranges and its module, which `live`
  // lacks. If `complete` is false, blocks that were live before and are missing in `live` also stay.
  void Replace(absl::Span<const DriverBlock> live, bool complete);
  void Clear();

  // A key of totals(), which sums the live blocks by device, call and library.
  struct AllocationGroup {
    DeviceId device;
    v1::DriverCall call = v1::DRIVER_CALL_UNKNOWN;
    NameId library;
    auto operator<=>(const AllocationGroup&) const = default;
  };
  struct GroupTotal {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
  };
  const std::map<AllocationGroup, GroupTotal>& totals() const { return totals_; }

  std::uint64_t forgotten_bytes() const { return forgotten_bytes_; }  // bytes that ForgetBefore removed so far
  std::uint64_t unmatched_frees() const { return unmatched_frees_; }  // frees so far whose block was not live
  std::size_t size() const { return blocks_.size(); }
  // Calls `function` with each live block, in the order of device and address.
  template <class Function>
  void ForEach(Function function) const {
    for (const auto& [where, block] : blocks_) function(block);
  }

 private:
  using BlockKey = std::pair<DeviceId, std::uint64_t>;
  void AddToTotals(const DriverBlock& block);
  void RemoveFromTotals(const DriverBlock& block);

  std::map<BlockKey, DriverBlock> blocks_;
  std::map<AllocationGroup, GroupTotal> totals_;  // sums of blocks_; contains no empty group
  // The newest free of each address. It ends every block at the address with a smaller serial, even if that block's
  // allocation is visited after the free.
  struct NewestFree {
    std::uint64_t serial = 0;
    bool unmatched = false;  // true: the allocation of the freed block is not visited so far
  };
  std::map<BlockKey, NewestFree> newest_frees_;
  std::uint64_t forgotten_bytes_ = 0;
  std::uint64_t unmatched_frees_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_DRIVER_MEMORY_H_
