// Writes the record that precedes the tensors of a module, of an optimizer, or of a gradient. It contains lists of
// tensors, encoded like an operator's arguments. The caller then records the tensors with RecordTensor, in the order of
// the lists. Called on the thread whose slot is used; does not allocate.
#ifndef TRACKER_TORCH_TENSORS_HOLDS_RECORD_H_
#define TRACKER_TORCH_TENSORS_HOLDS_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "interpose/ring/ring.h"

namespace memoir {

struct HoldingLists {
  HolderKind holder;
  std::uint64_t owner = 0;
  const std::uint32_t* lengths;
  std::size_t count;                      // number of lists, at most kMaxLists
  std::string_view parameter_names = {};  // each name is followed by a NUL
  std::string_view buffer_names = {};
};

// Writes the record. False if the ring has no room; this is counted, and the caller must not record the tensors.
bool RecordLists(ThreadSlot* slot, const HoldingLists& lists);

}  // namespace memoir

#endif  // TRACKER_TORCH_TENSORS_HOLDS_RECORD_H_
