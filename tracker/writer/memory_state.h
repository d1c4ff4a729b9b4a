// Everything a keyframe says, kept up to date event by event: live blocks, totals of devices and operators.
//
// Events must come in an order in which each address is right (the packer merges threads by tick). One thread.
#ifndef TRACKER_WRITER_MEMORY_STATE_H_
#define TRACKER_WRITER_MEMORY_STATE_H_

#include <cstdint>
#include <vector>

#include "tracker/writer/live_table.h"
#include "tracker/writer/range_stack.h"
#include "tracker/writer/segment_table.h"

namespace memoir {

struct DeviceSums {
  std::uint64_t live_bytes = 0;
  std::uint64_t live_blocks = 0;
  std::uint64_t peak_bytes = 0;
  std::uint64_t peak_tick = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t allocations = 0;
  std::uint64_t deallocations = 0;
  // Of devices with a caching allocator.
  bool has_segments = false;
  std::uint64_t freeing_bytes = 0;  // of blocks whose free is requested, but not completed
  std::uint64_t reserved_bytes = 0;
  std::uint64_t peak_active_bytes = 0;
  std::uint64_t peak_reserved_bytes = 0;
  std::uint64_t alloc_retries = 0;
  std::uint64_t ooms = 0;
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
  static constexpr std::size_t kMaxFreeing = 8 * 1024;
  explicit MemoryState(std::size_t max_blocks = kMaxLiveBlocks) : live_(max_blocks) {}

  // A range with a schema began; `outermost`: inside no other such range.
  void CountCall(std::uint32_t operator_id, bool outermost);
  void Allocate(const LiveBlock& block);
  void Deallocate(std::uint32_t device, std::uint64_t address, std::uint64_t serial);
  // As Allocate, of a block that nobody allocated while recording was on: in no sum of allocations.
  void Find(const LiveBlock& block);
  // As Deallocate, on a device with a caching allocator: the block stays active until its free is completed.
  void RequestFree(std::uint32_t device, std::uint64_t address, std::uint64_t serial);
  void CompleteFree(std::uint32_t device, std::uint64_t address, std::uint64_t serial);
  void AddSegment(const Segment& segment);
  void RemoveSegment(std::uint32_t device, std::uint64_t address, std::uint64_t bytes);
  void Count(std::uint32_t device, std::uint64_t alloc_retries, std::uint64_t ooms);
  void CountOutOfMemory(std::uint32_t device) { ++Device(device).ooms; }
  // Recording was off until `tick`: whether a block from before still lives is not known, so none is taken to.
  void ForgetBefore(std::uint64_t tick);

  // A caching allocator has the device: frees are requested first, then completed.
  bool HasSegments(std::uint32_t device) const { return device < devices_.size() && devices_[device].has_segments; }

  const LiveTable& live() const { return live_; }
  const LiveTable& freeing() const { return freeing_; }
  const SegmentTable& segments() const { return segments_; }
  const std::vector<DeviceSums>& devices() const { return devices_; }        // by device id
  const std::vector<OperatorSums>& operators() const { return operators_; }  // by ring id; 0: outside of any

 private:
  DeviceSums& Device(std::uint32_t device);
  OperatorSums& Operator(std::uint32_t operator_id);
  void Forget(const LiveBlock& block);
  bool Add(const LiveBlock& block);
  void NoteActive(std::uint32_t device);

  LiveTable live_;
  LiveTable freeing_{kMaxFreeing};
  SegmentTable segments_;
  std::vector<DeviceSums> devices_;
  std::vector<OperatorSums> operators_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_MEMORY_STATE_H_
