// The state that a keyframe contains, updated with each event: live blocks, and totals of devices and operators.
//
// The events of each address must be added in their true order (RingPump merges threads by tick). One thread.
#ifndef TRACKER_WRITER_STATE_MEMORY_STATE_H_
#define TRACKER_WRITER_STATE_MEMORY_STATE_H_

#include <cstdint>
#include <vector>

#include "tracker/writer/state/live_block_table.h"
#include "tracker/writer/state/range_stack.h"
#include "tracker/writer/state/segment_table.h"

namespace memoir {

// The sums of one device.
struct DeviceSums {
  std::uint64_t live_bytes = 0;
  std::uint64_t live_blocks = 0;
  std::uint64_t peak_bytes = 0;
  std::uint64_t peak_tick = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t allocations = 0;
  std::uint64_t deallocations = 0;
  // Members that are used only for devices with a caching allocator:
  bool has_segments = false;
  std::uint64_t freeing_bytes = 0;  // bytes of blocks whose free is requested, but not completed
  std::uint64_t reserved_bytes = 0;
  std::uint64_t peak_active_bytes = 0;
  std::uint64_t peak_reserved_bytes = 0;
  std::uint64_t alloc_retries = 0;
  std::uint64_t ooms = 0;
};

// The sums of one operator.
struct OperatorSums {
  std::uint64_t count = 0;
  std::uint64_t outermost_count = 0;
  std::uint64_t allocations = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t deallocated_bytes = 0;
};

class MemoryState {
 public:
  static constexpr std::size_t kMaxFreeing = 8 * 1024;
  explicit MemoryState(std::size_t max_blocks = kMaxLiveBlocks) : live_(max_blocks) {}

  // Call it when a range with a schema begins. `outermost`: no other range with a schema is around it.
  void CountCall(std::uint32_t operator_id, bool outermost);
  void Allocate(const LiveBlock& block);
  void Deallocate(std::uint32_t device, std::uint64_t address, std::uint64_t serial);
  // Like Allocate, for a block whose allocation was not recorded. The sums of allocations do not include it.
  void AddFound(const LiveBlock& block);
  // Like Deallocate, for a device with a caching allocator. The block's bytes stay active until CompleteFree.
  void RequestFree(std::uint32_t device, std::uint64_t address, std::uint64_t serial);
  void CompleteFree(std::uint32_t device, std::uint64_t address, std::uint64_t serial);
  void AddSegment(const ReservedSegment& segment);
  void RemoveSegment(std::uint32_t device, std::uint64_t address, std::uint64_t bytes);
  // Sets the allocator's counts of retries and of out-of-memory errors.
  void Count(std::uint32_t device, std::uint64_t alloc_retries, std::uint64_t ooms);
  void CountOutOfMemory(std::uint32_t device) { ++Device(device).ooms; }
  // Call it when recording resumes. Removes blocks that were allocated before `tick`, because they may have been freed
  // while recording was off.
  void ForgetBefore(std::uint64_t tick);

  // Returns true if the device has a caching allocator. A free on such a device is first requested, and then completed.
  bool HasSegments(std::uint32_t device) const { return device < devices_.size() && devices_[device].has_segments; }

  const LiveBlockTable& live() const { return live_; }
  const LiveBlockTable& freeing() const { return freeing_; }
  const SegmentTable& segments() const { return segments_; }
  const std::vector<DeviceSums>& devices() const { return devices_; }  // by device id
  // By id in the ring's table; [0]: allocations outside of operators.
  const std::vector<OperatorSums>& operators() const { return operators_; }

 private:
  DeviceSums& Device(std::uint32_t device);
  OperatorSums& Operator(std::uint32_t operator_id);
  void Forget(const LiveBlock& block);
  bool Add(const LiveBlock& block);
  void NoteActive(std::uint32_t device);

  LiveBlockTable live_;
  LiveBlockTable freeing_{kMaxFreeing};
  SegmentTable segments_;
  std::vector<DeviceSums> devices_;
  std::vector<OperatorSums> operators_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_STATE_MEMORY_STATE_H_
