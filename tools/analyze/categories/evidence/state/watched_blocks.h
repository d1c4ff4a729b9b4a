// The watched blocks of a process: the state of each live block, by Block::slot.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_WATCHED_BLOCKS_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_WATCHED_BLOCKS_H_

#include <cstdint>
#include <vector>

#include "tools/analyze/categories/evidence/state/watched_block.h"
#include "tools/model/capture.h"
#include "tools/model/event/event.h"

namespace memoir {

class WatchedBlocks {
 public:
  void Start(const ReplayState& replay) { replay_ = &replay; }

  WatchedBlock& Of(const Block& block) {
    if (block.slot == Block::kNoSlot) return late_;
    if (block.slot >= watched_.size()) watched_.resize(block.slot + 1);
    return watched_[block.slot];
  }
  // Returns the block that contains the tensor. nullptr if the tensor has no live block.
  WatchedBlock* Find(const Tensor& tensor) {
    if (tensor.storage == 0) return nullptr;
    const Block* block = replay_->LiveBlockAt(tensor.device, tensor.storage);
    return block == nullptr ? nullptr : &Of(*block);
  }
  // Returns the block that used `slot` last. The slot must have been used.
  WatchedBlock& At(std::uint32_t slot) { return watched_[slot]; }
  const WatchedBlock& At(std::uint32_t slot) const { return watched_[slot]; }

  std::uint32_t SlotOf(const WatchedBlock& live) const { return static_cast<std::uint32_t>(&live - watched_.data()); }
  bool HasSlot(const WatchedBlock& watched) const { return &watched != &late_; }
  bool IsLive(const AutogradGraphBook::BlockRef& block) const {
    return block.slot < watched_.size() && watched_[block.slot].ordinal == block.ordinal;
  }
  void EndProcess() { watched_.clear(); }

 private:
  const ReplayState* replay_ = nullptr;
  std::vector<WatchedBlock> watched_;  // by Block::slot
  WatchedBlock late_;                  // for blocks without a slot
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_WATCHED_BLOCKS_H_
