// The kinds of leaves in a tree: memory events and CUDA calls.
#ifndef TOOLS_ANALYZE_TREE_MEMORY_ACTION_H_
#define TOOLS_ANALYZE_TREE_MEMORY_ACTION_H_

#include <cstdint>
#include <string_view>

#include "tools/model/event/event.h"

namespace memoir {

enum class MemoryAction : std::uint8_t {
  kAllocate,
  kFree,
  kSegmentAllocate,  // kSegment...: the CUDA allocator reserves or releases memory of the device
  kSegmentFree,
  kSegmentMap,
  kSegmentUnmap,
  kDriverAllocate,  // kDriver...: memory taken from CUDA's driver outside of the CUDA allocator
  kDriverFree,
  kDriverRefused,
  kOutOfMemory,  // out-of-memory error of the CUDA allocator
  kLaunch,       // not a memory event: a kernel launch
  kDeviceCall,   // not a memory event: another CUDA call
  kBefore,       // live memory that was allocated outside of the selection
  kElsewhere,    // live memory that was allocated by a thread outside of the selection
};
// "allocate", "segment_free", ...
std::string_view ToString(MemoryAction action);
inline bool IsDeviceCall(MemoryAction action) {
  return action == MemoryAction::kLaunch || action == MemoryAction::kDeviceCall;
}
// Returns true if the action returns memory. The bytes of such an action are shown with a minus.
bool ReturnsMemory(MemoryAction action);
MemoryAction ActionOf(SegmentAction action);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TREE_MEMORY_ACTION_H_
