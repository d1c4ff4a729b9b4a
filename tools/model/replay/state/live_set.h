// The blocks that are live at the current point of a replay, by device and address. A replay spends most of its time in
// this class, with two look-ups for every block.
#ifndef TOOLS_MODEL_REPLAY_STATE_LIVE_SET_H_
#define TOOLS_MODEL_REPLAY_STATE_LIVE_SET_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/event/event.h"
#include "tools/model/event/ids.h"

namespace memoir {

class LiveSet {
 public:
  // Bounds the memory that a hostile capture can use. No program has as many blocks.
  static constexpr std::size_t kMaxBlocks = std::size_t{1} << 24;

  // Returns the live block that begins at `address`. nullptr if no block begins there. The pointer is valid until the
  // next Add.
  const Block* Find(DeviceId device, std::uint64_t address) const;
  Block* Find(DeviceId device, std::uint64_t address);

  // Adds `block` and assigns a slot to it. No block may be live at its address, and size() must be below kMaxBlocks.
  Block& Add(const Block& block);
  void Remove(const Block& block);
  void Clear();

  std::size_t size() const { return size_; }
  std::uint64_t bytes(DeviceId device) const {
    return device.value < devices_.size() ? devices_[device.value].bytes : 0;
  }

  template <class Function>
  void ForEach(const Function& function) const {
    for (const Device& device : devices_) {
      for (const auto& [address, slot] : device.slots) function(blocks_[slot]);
    }
  }

 private:
  struct Device {
    absl::flat_hash_map<std::uint64_t, std::uint32_t> slots;
    std::uint64_t bytes = 0;
  };
  std::vector<Device> devices_;      // by DeviceId
  std::vector<Block> blocks_;        // by slot
  std::vector<std::uint32_t> free_;  // unused slots
  std::size_t size_ = 0;
};

inline const Block* LiveSet::Find(DeviceId device, std::uint64_t address) const {
  if (device.value >= devices_.size()) return nullptr;
  const auto& slots = devices_[device.value].slots;
  const auto found = slots.find(address);
  return found == slots.end() ? nullptr : &blocks_[found->second];
}

inline Block* LiveSet::Find(DeviceId device, std::uint64_t address) {
  return const_cast<Block*>(std::as_const(*this).Find(device, address));
}

inline Block& LiveSet::Add(const Block& block) {
  if (block.device.value >= devices_.size()) devices_.resize(block.device.value + 1);
  std::uint32_t slot = static_cast<std::uint32_t>(blocks_.size());
  if (free_.empty()) {
    blocks_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  Block& added = blocks_[slot];
  added = block;
  added.slot = slot;
  devices_[block.device.value].slots[block.address] = slot;
  devices_[block.device.value].bytes += block.bytes;
  ++size_;
  return added;
}

inline void LiveSet::Remove(const Block& block) {
  Device& device = devices_[block.device.value];
  device.bytes -= block.bytes;
  free_.push_back(block.slot);
  --size_;
  device.slots.erase(block.address);  // last, because `block` may be an element of blocks_
}

inline void LiveSet::Clear() {
  devices_.clear();
  blocks_.clear();
  free_.clear();
  size_ = 0;
}

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_STATE_LIVE_SET_H_
