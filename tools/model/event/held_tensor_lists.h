// Iterates over the lists of tensors of a HeldTensorsEvent: parameters, their gradients, then a module's buffers or an
// optimizer's state.
#ifndef TOOLS_MODEL_EVENT_HELD_TENSOR_LISTS_H_
#define TOOLS_MODEL_EVENT_HELD_TENSOR_LISTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "tools/model/event/dictionary.h"
#include "tools/model/event/event.h"

namespace memoir {

// A HeldTensorLists must not outlive its event.
class HeldTensorLists {
 public:
  HeldTensorLists(const HeldTensorsEvent& event, const Dictionary& dictionary) : tensors_(event.tensors) {
    if (event.signature.valid()) lengths_ = dictionary.signature(event.signature).list_lengths;
  }

  std::size_t size() const { return lengths_.size(); }
  // Returns the next list. Empty after the last list. In a damaged capture, a list may be shorter than its recorded
  // length.
  absl::Span<const Tensor> Next() {
    if (next_ == lengths_.size()) return {};
    const absl::Span<const Tensor> list =
        tensors_.subspan(0, std::min<std::size_t>(lengths_[next_++], tensors_.size()));
    tensors_.remove_prefix(list.size());
    return list;
  }

 private:
  absl::Span<const Tensor> tensors_;
  absl::Span<const std::uint32_t> lengths_;
  std::size_t next_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_EVENT_HELD_TENSOR_LISTS_H_
