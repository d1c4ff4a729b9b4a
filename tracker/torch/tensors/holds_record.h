// Writes a HoldsRecord (interpose/records/ring_record.h): the record of the tensors that a module, an optimizer or a
// parameter holds. It contains the lengths of lists of tensors, encoded like the lists among an operator's arguments.
// Then the caller records the tensors themselves with RecordTensor, in the order of the lists. Call it on the thread to
// which the slot belongs. Does not allocate.
#ifndef TRACKER_TORCH_TENSORS_HOLDS_RECORD_H_
#define TRACKER_TORCH_TENSORS_HOLDS_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "interpose/ring/ring.h"

namespace memoir {

// The content of a HoldsRecord.
struct HoldingLists {
  HolderKind holder;
  std::uint64_t owner = 0;                // id of the module or number of the optimizer; 0 for a parameter
  const std::uint32_t* lengths;           // number of tensors in each list
  std::size_t count;                      // number of lists, at most kMaxLists
  std::string_view parameter_names = {};  // names of a module's parameters, each followed by a NUL
  std::string_view buffer_names = {};     // names of a module's buffers, each followed by a NUL
};

// Writes the record. False if the ring has no room; this is counted, and the caller must not record the tensors.
bool RecordLists(ThreadSlot* slot, const HoldingLists& lists);

}  // namespace memoir

#endif  // TRACKER_TORCH_TENSORS_HOLDS_RECORD_H_
