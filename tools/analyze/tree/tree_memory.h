// What a tree has for memory: its leaves.
#ifndef TOOLS_ANALYZE_TREE_TREE_MEMORY_H_
#define TOOLS_ANALYZE_TREE_TREE_MEMORY_H_

#include <cstdint>
#include <string_view>

#include "tools/model/event.h"

namespace memoir {

enum class MemoryAction : std::uint8_t {
  kAllocate,
  kFree,
  kSegmentAllocate,  // the CUDA allocator takes memory from the device, or gives some back
  kSegmentFree,
  kSegmentMap,
  kSegmentUnmap,
  kDriverAllocate,  // a call of the driver or of a library
  kDriverFree,
  kDriverRefused,
  kOutOfMemory,  // of the CUDA allocator
  kLaunch,       // no memory, but beside it: a kernel is launched,
  kDeviceCall,   // or another call of CUDA is made
  kBefore,       // live, and allocated outside of the window
  kElsewhere,    // live, and allocated by a thread that was not asked for
};
// "allocate", "segment_free", ...
std::string_view ToString(MemoryAction action);
inline bool IsDeviceCall(MemoryAction action) {
  return action == MemoryAction::kLaunch || action == MemoryAction::kDeviceCall;
}
// Whether its bytes go away: shown with a minus.
bool GivesBack(MemoryAction action);
MemoryAction ActionOf(SegmentAction action);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TREE_TREE_MEMORY_H_
