// Packs the records of the tensors that modules and optimizers hold. Keeps the newest of these records for snapshots.
// One thread.
#ifndef TRACKER_WRITER_PACK_HOLDER_PACKER_H_
#define TRACKER_WRITER_PACK_HOLDER_PACKER_H_

#include <cstddef>
#include <cstdint>

#include "tracker/writer/pack/argument_packer.h"
#include "tracker/writer/pack/shared_pack_state.h"
#include "tracker/writer/state/current_holdings.h"

namespace memoir {

class HolderPacker {
 public:
  HolderPacker(SharedPackState& shared, ArgumentPacker& arguments) : shared_(shared), arguments_(arguments) {}

  // Keeps the event's records for snapshots. Call it once for each event of the kind kHolds in the ring.
  void Note(std::uint32_t thread, const EventGroup& group) { held_.Note(thread, group); }
  void AddHolds(ThreadState& thread, const EventGroup& group, RunColumns& run);

  const CurrentHoldings& held() const { return held_; }
  // For each tensor that is no longer held, sets the addresses and the storage bytes to 0.
  void LeaveOutFreed(CurrentHoldings::Copy& held);

 private:
  void AddNames(const EventGroup& group, RunColumns& run);
  bool IsHeldStill(const CurrentHoldings::Copy& held, std::size_t tensor);

  SharedPackState& shared_;
  ArgumentPacker& arguments_;
  CurrentHoldings held_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_PACK_HOLDER_PACKER_H_
