// Finds the blocks that grow with the inputs. A place is a Python stack, an operator and a module. The blocks of a
// place follow the inputs if the place allocated more after larger inputs and less after smaller ones. A cache that is
// allocated once does not follow, and neither do gradients, whose size never changes.
//
//     inputs   4 MiB   8 MiB   2 MiB    a burst: inputs that are allocated one after another, with no
//                                       other allocation on the device between them
//     relu    16 MiB  32 MiB   8 MiB    follows
//     grad    64 MiB  64 MiB  64 MiB    does not
//
// One object follows the processes of a replay, one after another.
#ifndef TOOLS_ANALYZE_OOM_INPUT_FOLLOWERS_H_
#define TOOLS_ANALYZE_OOM_INPUT_FOLLOWERS_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/event/event.h"

namespace memoir {

class InputFollowers {
 public:
  // Call it when a process begins.
  void Clear() { devices_.clear(); }
  void NoteAllocation(const Block& block, bool is_input);
  // Returns true if the blocks of the place of `block` follow the inputs. Only bursts that differ in size from the
  // place's first burst count: the place must have followed at least two of them, and nearly all of them.
  bool Follows(const Block& block) const;

 private:
  using Place = std::tuple<StackId, NameId, ModuleId>;
  struct Sizes {
    std::uint64_t input = 0;    // bytes of the first complete burst after which the place allocated; 0: no such burst
    std::uint64_t bytes = 0;    // bytes that the place allocated after that burst
    std::uint64_t running = 0;  // bytes that the place allocated since the newest burst began
    // Numbers of bursts, of a size other than `input`, that the place followed and did not follow.
    std::uint32_t followed = 0, differed = 0;
  };
  struct Device {
    std::uint64_t input = 0;  // bytes of the newest burst
    bool burst_ended = true;
    absl::flat_hash_map<Place, Sizes> places;
    std::vector<Place> touched;  // places that allocated since the newest burst began
  };
  static Place PlaceOf(const Block& block) { return {block.line_callstack(), block.operator_name, block.module}; }
  static void EndBurst(Device& device);

  std::map<DeviceId, Device> devices_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_OOM_INPUT_FOLLOWERS_H_
