// Which allocation a deallocation closes, and what a storage that nobody allocated means: the serial rules of
// docs/event_schema.md, kept apart from decoding.
//
// Threads are merged by tick, but the truth on one address is the serial: a deallocation closes the allocation with the
// greatest serial below its own, and may come before it or after the next one.
#ifndef TOOLS_MODEL_BLOCK_TRACKER_H_
#define TOOLS_MODEL_BLOCK_TRACKER_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "tools/model/capture.h"
#include "tools/model/event.h"
#include "tools/model/live_set.h"

namespace memoir {

class BlockTracker {
 public:
  explicit BlockTracker(ReplayReport* report) : report_(report) {}

  LiveSet& live() { return live_; }
  const LiveSet& live() const { return live_; }

  // What an allocation at this address and serial means for what is known there.
  struct Verdict {
    Block* replaced = nullptr;    // close this one first
    bool closed_at_once = false;  // its deallocation, or a later allocation, was shown before it
    DeallocateCause cause = DeallocateCause::kRecorded;
  };
  Verdict Judge(DeviceId device, std::uint64_t address, std::uint64_t serial);

  // The block that a deallocation closes, or nullptr (then remembered in case its allocation comes late).
  Block* FindClosed(DeviceId device, std::uint64_t address, std::uint64_t serial);

  // True the first time that a storage shows up which is not live.
  bool IsFirstSeen(const Tensor& tensor);

  void Clear();

 private:
  using Address = std::pair<DeviceId, std::uint64_t>;
  static constexpr std::size_t kMaxRemembered = 1u << 20;

  ReplayReport* report_;
  LiveSet live_;
  absl::flat_hash_map<Address, std::uint64_t> early_;       // deallocations without allocation: their serials
  absl::flat_hash_map<Address, std::uint64_t> first_seen_;  // storages of others: their bytes
};

}  // namespace memoir

#endif  // TOOLS_MODEL_BLOCK_TRACKER_H_
