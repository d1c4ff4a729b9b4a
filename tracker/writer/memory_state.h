// Everything a keyframe says, kept up to date event by event: live blocks, totals of devices and operators.
//
// Events must come in an order in which each address is right (the packer merges threads by tick). One thread.
#ifndef TRACKER_WRITER_MEMORY_STATE_H_
#define TRACKER_WRITER_MEMORY_STATE_H_

#include <cstdint>
#include <vector>

#include "tracker/writer/live_table.h"
#include "tracker/writer/range_stack.h"

namespace memoir {

struct DeviceSums {
  std::uint64_t live_bytes = 0;
  std::uint64_t live_blocks = 0;
  std::uint64_t peak_bytes = 0;
  std::uint64_t peak_tick = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t allocations = 0;
  std::uint64_t deallocations = 0;
};

struct OperatorSums {
  std::uint64_t count = 0;
  std::uint64_t outermost_count = 0;
  std::uint64_t allocations = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t deallocated_bytes = 0;
};

class MemoryState {
 public:
  explicit MemoryState(std::size_t max_blocks = kMaxLiveBlocks) : live_(max_blocks) {}

  // A range with a schema began; `outermost`: inside no other such range.
  void CountCall(std::uint32_t operator_id, bool outermost);
  void Allocate(const LiveBlock& block);
  void Deallocate(std::uint32_t device, std::uint64_t address, std::uint64_t serial);
  // Recording was off until `tick`: whether a block from before still lives is not known, so none is taken to.
  void ForgetBefore(std::uint64_t tick);

  const LiveTable& live() const { return live_; }
  const std::vector<DeviceSums>& devices() const { return devices_; }        // by device id
  const std::vector<OperatorSums>& operators() const { return operators_; }  // by ring id; 0: outside of any

 private:
  DeviceSums& Device(std::uint32_t device);
  OperatorSums& Operator(std::uint32_t operator_id);
  void Forget(const LiveBlock& block);

  LiveTable live_;
  std::vector<DeviceSums> devices_;
  std::vector<OperatorSums> operators_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_MEMORY_STATE_H_
