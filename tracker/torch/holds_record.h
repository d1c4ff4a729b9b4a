// The record of what a module or an optimizer holds, or of a gradient: lists of tensors, as an operator's arguments are
// recorded. On the calling thread; allocates nothing. Their tensors follow, by RecordTensor, in the order of the lists.
#ifndef TRACKER_TORCH_HOLDS_RECORD_H_
#define TRACKER_TORCH_HOLDS_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "interpose/ring.h"

namespace memoir {

struct HeldLists {
  HolderKind holder;
  std::uint64_t owner = 0;
  const std::uint32_t* lengths;
  std::size_t count;  // of lists, at most kMaxLists
  std::string_view parameter_names = {};  // each with a NUL behind it
  std::string_view buffer_names = {};
};

// False: no room in the ring, which is counted; then no tensors may follow.
bool RecordLists(ThreadSlot* slot, const HeldLists& lists);

}  // namespace memoir

#endif  // TRACKER_TORCH_HOLDS_RECORD_H_
