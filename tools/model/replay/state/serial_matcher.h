// Matches each deallocation with its allocation by their serials (docs/event_schema.md), and finds storages whose
// allocation was not recorded. Owns the live blocks of a process.
//
// A replay merges threads by tick, but the serials decide the order of events at one address. A deallocation closes the
// allocation with the greatest serial below the deallocation's serial. Because of the ticks, the replay may visit the
// deallocation before this allocation, or after the next allocation at the address.
#ifndef TOOLS_MODEL_REPLAY_STATE_SERIAL_MATCHER_H_
#define TOOLS_MODEL_REPLAY_STATE_SERIAL_MATCHER_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "tools/model/capture.h"
#include "tools/model/event/event.h"
#include "tools/model/replay/state/live_set.h"

namespace memoir {

class SerialMatcher {
 public:
  explicit SerialMatcher(ReplayReport* report) : report_(report) {}

  LiveSet& live_set() { return live_; }
  const LiveSet& live_set() const { return live_; }

  // The effect of an allocation on the block that is live at its address, and on the new block.
  struct AllocationEffect {
    Block* replaced = nullptr;    // the live block, which must be closed first; nullptr: none
    bool closed_at_once = false;  // true: the end of the new block, or a later allocation, was visited earlier
    DeallocateCause cause = DeallocateCause::kRecorded;
  };
  // Returns the effect of an allocation that is visited now. The caller then adds the block to live_set(), unless it is
  // closed at once.
  AllocationEffect CheckAllocation(DeviceId device, std::uint64_t address, std::uint64_t serial);

  // Returns the block that a deallocation closes. If no block is live at `address`, returns nullptr and stores the
  // serial, because the replay may visit the allocation later. Also returns nullptr if a later allocation at the
  // address has closed the block already.
  Block* FindClosed(DeviceId device, std::uint64_t address, std::uint64_t serial);

  // Returns true if the tensor's storage is not live, and was not passed to this function before with the same size.
  bool IsFirstSeen(const Tensor& tensor);

  void Clear();

 private:
  using Address = std::pair<DeviceId, std::uint64_t>;
  static constexpr std::size_t kMaxRemembered = 1u << 20;

  ReplayReport* report_;
  LiveSet live_;
  absl::flat_hash_map<Address, std::uint64_t> early_;  // serials of deallocations whose allocation was not visited
  // Bytes of storages that were not allocated in the recording.
  absl::flat_hash_map<Address, std::uint64_t> first_seen_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_STATE_SERIAL_MATCHER_H_
