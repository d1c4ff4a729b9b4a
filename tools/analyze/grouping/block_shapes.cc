#include "tools/analyze/grouping/block_shapes.h"

#include <algorithm>

namespace memoir {
namespace {

// Returns the number of elements. 0 if elements share memory (expand) or if the shape is unknown, because such a tensor
// does not show the size of its block.
std::uint64_t Elements(const Layout& layout) {
  if (layout.shape_unknown) return 0;
  std::uint64_t elements = 1;
  for (std::size_t i = 0; i < layout.sizes.size(); ++i) {
    if (layout.sizes[i] > 1 && i < layout.strides.size() && layout.strides[i] == 0) return 0;
    // The product may wrap in a damaged capture. A wrapped product does no harm, because it is only compared.
    elements *= static_cast<std::uint64_t>(layout.sizes[i]);
  }
  return elements;
}

}  // namespace

void BlockShapePass::OnAllocate(const AllocateEvent& event) {
  const Block& block = *event.block;
  live_[{block.device, block.address}] = {block.ordinal, block.operator_call, 0};
}

void BlockShapePass::OnDeallocate(const DeallocateEvent& event) {
  const auto found = live_.find({event.block->device, event.block->address});
  if (found != live_.end() && found->second.ordinal == event.block->ordinal) live_.erase(found);
}

void BlockShapePass::OnRangeEnd(const RangeEndEvent& event) { NoteTensors(event.tensors, event.range->call); }

void BlockShapePass::NoteTensors(absl::Span<const Tensor> tensors, std::uint64_t ended_call) {
  for (const Tensor& tensor : tensors) {
    if (tensor.storage == 0 || !tensor.layout.valid()) continue;
    const auto found = live_.find({tensor.device, tensor.storage});
    if (found == live_.end()) continue;
    LiveBlock& block = found->second;
    const Layout& layout = state_->dictionary().layout(tensor.layout);
    const std::uint64_t elements = Elements(layout);
    const bool returned = ended_call != 0 && ended_call == block.operator_call;
    if (elements == 0 || elements < block.elements || (elements == block.elements && !returned)) continue;
    block.elements = elements;
    shapes_.Set(block.ordinal, tensor.layout, layout);
  }
}

}  // namespace memoir
