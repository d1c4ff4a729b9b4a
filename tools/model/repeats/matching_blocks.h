// Infers the operators of blocks in steps that were recorded without operators because they repeat an earlier step
// (detail=auto). The matching block of a block belongs to a step that was recorded in full. It has the same position
// and the same Python stack as the block. A block with another stack does not match, because other code allocated it.
//
// The position of a block is a hash of the allocations from the begin of the step to this block. For a host block these
// are the host allocations of the thread that marks steps; host blocks of other threads have no position. For a CUDA
// block these are the allocations of its device. Two blocks have the same position if these allocations have the same
// requested sizes and streams in the same order. The recorder compares steps by the same rule
// (tracker/repeated_steps/repeated_steps.h).
//
// If the size of a block is new, for example because of a larger batch, no block of a full step has its position. For
// the first such block of a step, the size is not compared: the matching block is the block that follows the same
// allocations and has the same Python stack. If several blocks fulfil these conditions but belong to different
// operators or modules, no block matches.
#ifndef TOOLS_MODEL_REPEATS_MATCHING_BLOCKS_H_
#define TOOLS_MODEL_REPEATS_MATCHING_BLOCKS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/event/event.h"
#include "tools/model/event/ids.h"
#include "tools/model/repeated_step_counts.h"

namespace memoir {

// The matching blocks of one process.
class MatchingBlocks {
 public:
  // `follows` is true if the recording has detail=auto. If it is false, all functions do nothing.
  void Begin(bool follows);

  // Begins a step at the current event. `thread` is the thread that marks steps.
  void BeginStep(ThreadId thread);
  // Call this function when the recording level changes to `level`.
  void SwitchLevel(v1::RecordingLevel level);

  // Call this function for each block before the visitor receives it. `ordinal` is the ordinal that the block will
  // have. If the operators of the block were not recorded, copies the operators of its matching block to it, and sets
  // Block::matching_ordinal. `caching`: a caching allocator manages the device.
  void VisitBlock(std::uint64_t ordinal, bool caching, Block& block);

  // Ends a block. `temporary` is true if the recorded operator call that allocated the block has not ended. Returns
  // whether the block was temporary: the value of the matching block if the block is inferred, otherwise `temporary`.
  bool EndBlock(const Block& block, bool temporary);

  // Call this function if blocks of the current step are missing. Later blocks of this step then have no matching
  // block.
  void LeaveOutStep();

  const RepeatedStepCounts& step_counts() const { return step_counts_; }
  // Adds the counts of `times` collapsed repeats. `steps` has the counts of one repeat.
  void AddCollapsed(const RepeatedStepCounts& steps, std::uint64_t times) {
    const std::uint64_t before = step_counts_.steps;
    step_counts_.Add(steps, times);
    for (DevicePosition& device_position : device_positions_) {
      if (device_position.step == before) device_position.step = step_counts_.steps;
    }
  }

 private:
  struct MatchingBlock {
    NameId operator_name, leaf_name, user_name, region;
    StackId forward_callstack;
    ModuleId module;
    std::uint64_t ordinal = 0;
    Phase phase = Phase::kOther;
    bool in_compiled_region = false, compiling = false, temporary = false;
    std::uint8_t seen = 0;  // number of full steps from which this entry was taken
  };
  // Hashes of a block's position in its step and of its Python stack. `of_any_size` omits the size of the block itself.
  // Both are 0 if the block has no position. `of_any_size` is also 0 if the block has no stack.
  struct Positions {
    std::uint64_t exact = 0;
    std::uint64_t of_any_size = 0;
  };
  // The position of the newest block of a device.
  struct DevicePosition {
    std::uint64_t position = 0;
    std::uint64_t step = 0;  // step of the position, as counted by RepeatedStepCounts::steps
  };
  DevicePosition& PositionOf(DeviceId device);
  Positions PositionsOf(bool caching, const Block& block);
  void Learn(const Positions& positions, std::uint64_t ordinal, const Block& block);
  void LearnAnySize(const Positions& positions);
  const MatchingBlock* Find(const Positions& positions, bool* is_resized) const;
  void Infer(const Positions& positions, Block& block);

  bool follows_ = false;
  bool full_ = false;    // operators are recorded now
  bool learns_ = false;  // operators were recorded in the whole step so far
  ThreadId thread_;
  std::vector<DevicePosition> device_positions_;                       // by DeviceId
  absl::flat_hash_map<std::uint64_t, MatchingBlock> matching_blocks_;  // by position and Python stack
  absl::flat_hash_map<std::uint64_t, std::uint64_t> positions_;  // positions of matching blocks, by their ordinals
  // Maps Positions::of_any_size to Positions::exact. kSeveral: blocks with this position belong to different operators
  // or modules.
  absl::flat_hash_map<std::uint64_t, std::uint64_t> of_any_size_;
  static constexpr std::uint64_t kSeveral = 0;
  RepeatedStepCounts step_counts_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPEATS_MATCHING_BLOCKS_H_
