// What a process's CUDA caching allocators did, device by device, and what they hold at the end: the content of torch's
// own snapshot (torch.cuda.memory._snapshot), from a recording.
#ifndef TOOLS_ANALYZE_SEGMENTS_ALLOCATOR_TRACE_H_
#define TOOLS_ANALYZE_SEGMENTS_ALLOCATOR_TRACE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/options.h"
#include "tools/analyze/segments/segment_map.h"
#include "tools/model/capture.h"

namespace memoir {

// torch's words for them.
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
  std::uint64_t bytes = 0;  // of blocks as the program asked for them, as torch has it
  std::uint64_t stream = 0;
  std::uint64_t device_free = 0;  // kOutOfMemory: as the driver said
  const Block* block = nullptr;   // what it happened to, or was asked for; nullptr: not known. Valid during the call
  bool made_here = false;         // the block's stack is that of this entry
};

class AllocatorTraceVisitor {
 public:
  virtual ~AllocatorTraceVisitor() = default;
  // For each device from 0 to the largest that was used: even those without an entry.
  virtual void BeginDevice(std::uint32_t index) = 0;
  virtual void See(const TraceEntry& entry, const ReplayState& state) = 0;
  virtual void EndDevice() = 0;
  // Once, behind the last device.
  virtual void SeeSegments(std::uint32_t device, const SegmentMap& map, const ReplayState& state) = 0;
};

struct AllocatorTraceResult {
  std::size_t other_processes = 0;  // with CUDA memory: of each but the first nothing was shown
  ReplayReport report;
};

// Of the first process of the selection that used CUDA memory; the selection's window does not count. Of a choice of
// blocks the entries are of these; segments have all blocks, marked where they are left out. Goes through the
// recording once, and once for each device. NotFound: no CUDA memory was recorded there.
absl::StatusOr<AllocatorTraceResult> StreamAllocatorTrace(const Capture& capture, const Selection& selection,
                                                          AllocatorTraceVisitor& visitor);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SEGMENTS_ALLOCATOR_TRACE_H_
