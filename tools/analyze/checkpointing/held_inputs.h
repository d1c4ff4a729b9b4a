// Freed blocks that module calls had received as inputs. With checkpointing, these calls would still hold the blocks.
#ifndef TOOLS_ANALYZE_CHECKPOINTING_HELD_INPUTS_H_
#define TOOLS_ANALYZE_CHECKPOINTING_HELD_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/analyze/checkpointing/checkpoint_state.h"

namespace memoir {

class HeldInputs {
 public:
  explicit HeldInputs(CheckpointState& shared) : devices_(shared.devices), calls_(shared.calls) {}

  // Called when the program frees a block that calls received as an input. With checkpointing, each of these calls
  // would hold the block until the graph of the call is freed. The block counts only once for each group of modules,
  // even if several calls of the group hold it. Must be called before the live bytes change.
  void Hold(const FollowedBlock& followed, CheckpointedPeaks& peaks);
  // Called when the graph of the call is freed. The inputs that the call still holds are freed with the graph.
  void Release(const FollowedCall& call);
  void Clear();

 private:
  // A freed block that calls of one group would hold.
  struct HeldInput {
    DeviceId device;
    AlikeNumber alike = 0;
    std::uint64_t bytes = 0;
    std::uint32_t calls = 0;  // number of these calls
  };

  std::size_t Add(const HeldInput& held);  // returns the index in held_

  DevicePeaks& devices_;
  FollowedCalls& calls_;
  std::vector<HeldInput> held_;
  std::vector<std::size_t> unheld_;  // free indices of held_
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CHECKPOINTING_HELD_INPUTS_H_
