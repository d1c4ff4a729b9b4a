// The events of a process's CUDA caching allocators by device, and the allocators' state at the end: the content of
// torch's own snapshot (torch.cuda.memory._snapshot), made from a recording.
#ifndef TOOLS_ANALYZE_SEGMENTS_ALLOCATOR_TRACE_H_
#define TOOLS_ANALYZE_SEGMENTS_ALLOCATOR_TRACE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/analyze/segments/segment_map.h"
#include "tools/model/capture.h"

namespace memoir {

// The names are torch's.
enum class TraceAction : std::uint8_t {
  kAlloc,
  kFreeRequested,
  kFreeCompleted,
  kSegmentAlloc,
  kSegmentFree,
  kSegmentMap,
  kSegmentUnmap,
  kOutOfMemory,
};

struct TraceEntry {
  TraceAction action = TraceAction::kAlloc;
  std::uint64_t ns = 0;  // since the capture's start
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // for a block: its requested bytes, as in torch
  std::uint64_t stream = 0;
  std::uint64_t device_free = 0;  // kOutOfMemory: free bytes that the driver reported
  // Block that was allocated, freed or requested; nullptr: unknown. Valid only during the call.
  const Block* block = nullptr;
  bool made_here = false;  // true: the stack of `block` is the stack of this entry
};

class AllocatorTraceVisitor {
 public:
  virtual ~AllocatorTraceVisitor() = default;
  // Called for each device index from 0 to the largest that was used, including devices without entries.
  virtual void BeginDevice(std::uint32_t index) = 0;
  virtual void See(const TraceEntry& entry, const ReplayState& state) = 0;
  virtual void EndDevice() = 0;
  // Called once for each device with segments, after the last EndDevice.
  virtual void SeeSegments(std::uint32_t device, const SegmentMap& map, const ReplayState& state) = 0;
};

struct AllocatorTraceResult {
  std::size_t other_processes = 0;  // other processes with CUDA memory, which are not shown
  ReplayReport report;
};

// Traces the first process of the selection that used CUDA memory. Ignores a selected time. If the selection leaves out
// blocks, the entries do not contain these blocks; the segments contain them, marked as omitted. Replays the recording
// once, and once more for each device. Returns NotFound if no CUDA memory was recorded.
absl::StatusOr<AllocatorTraceResult> StreamAllocatorTrace(const Capture& capture, const Selection& selection,
                                                          AllocatorTraceVisitor& visitor);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SEGMENTS_ALLOCATOR_TRACE_H_
