// What the driver has given to one process and not got back: the blocks of cudaMalloc and its like, pinned host memory,
// contexts, loaded code. docs/event_schema.md, "What the driver gives", says whose they are.
//
// Knows no thread's stack; the replayer keeps one for the process in hand. Not thread-safe.
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
#include "tools/model/driver_event.h"
#include "tools/model/ids.h"

namespace memoir {

class DriverMemory {
 public:
  // A hostile capture must not fill memory; no program comes near.
  static constexpr std::size_t kMaxBlocks = std::size_t{1} << 20;

  // Threads are merged by time, so what happens at one address may be shown in any order: the serials decide, and what
  // is live in the end is the same. False: the block is gone already, or there are too many.
  bool Allocate(const DriverBlock& block);
  // The block that a free ends; it is no part of this any more. Empty: it is not known (from before the recording, or
  // its allocation comes late, or ended already).
  std::optional<DriverBlock> Free(DeviceId device, std::uint64_t address, std::uint64_t serial);
  // What became of blocks from before is not known: recording was off.
  void ForgetBefore(Tick tick);
  // These are live; of those that are known already more stays known. `complete`: no others are; else those that are
  // known stay.
  void Replace(absl::Span<const DriverBlock> live, bool complete);
  void Clear();

  // Who holds how much, without looking at every block.
  struct Holder {
    DeviceId device;
    v1::DriverCall call = v1::DRIVER_CALL_UNKNOWN;
    NameId library;
    auto operator<=>(const Holder&) const = default;
  };
  struct Held {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
  };
  const std::map<Holder, Held>& held() const { return held_; }

  std::uint64_t forgotten_bytes() const { return forgotten_bytes_; }
  std::uint64_t unmatched_frees() const { return unmatched_frees_; }
  std::size_t size() const { return blocks_.size(); }
  // By device and address.
  template <class Function>
  void ForEach(Function function) const {
    for (const auto& [where, block] : blocks_) function(block);
  }

 private:
  using Where = std::pair<DeviceId, std::uint64_t>;
  void Count(const DriverBlock& block);
  void Discount(const DriverBlock& block);

  std::map<Where, DriverBlock> blocks_;
  std::map<Holder, Held> held_;  // of blocks_; without those that hold nothing
  // The newest free of each address: it ends every older block there, also one that is shown after it.
  struct Freed {
    std::uint64_t serial = 0;
    bool unmatched = false;  // no block was there
  };
  std::map<Where, Freed> freed_;
  std::uint64_t forgotten_bytes_ = 0;
  std::uint64_t unmatched_frees_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_DRIVER_MEMORY_H_
