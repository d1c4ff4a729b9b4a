// The shape of every block: the shape of the largest tensor in the block that was an argument or a result of an
// operator. If several tensors are equally large, the result of the operator that allocated the block counts. Without
// such a result, the first tensor counts. A block that no tensor used (a kernel's scratch space) has no shape.
#ifndef TOOLS_ANALYZE_GROUPING_BLOCK_SHAPES_H_
#define TOOLS_ANALYZE_GROUPING_BLOCK_SHAPES_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/categories/ordinal_table.h"
#include "tools/model/capture.h"

namespace memoir {

// The shapes that a replay found, and their texts. The texts are stored because another replay may reach a block before
// it has read the definition of the block's shape.
class BlockShapeTable {
 public:
  // Returns the shape of `block`. If `block` is an inferred block without a recorded tensor, and its matching block has
  // the same size, returns the shape of the matching block. Invalid if there is no shape.
  LayoutId LayoutOf(const Block& block) const {
    const LayoutId own = layouts_.At(block.ordinal);
    return own.valid() || !block.inferred() || block.is_resized ? own : layouts_.At(block.matching_ordinal);
  }
  // Returns "float32[32, 128]". `id`: a result of LayoutOf.
  const std::string& TextOf(LayoutId id) const { return texts_.at(id); }
  void Set(std::uint64_t ordinal, LayoutId id, const Layout& layout) {
    layouts_.Set(ordinal, id);
    if (!texts_.contains(id)) texts_.emplace(id, ToString(layout));
  }

 private:
  OrdinalTable<LayoutId, LayoutId{}> layouts_;
  absl::flat_hash_map<LayoutId, std::string> texts_;
};

// Finds the shapes of all blocks. The replay needs ReplayOptions::tensors.
class BlockShapePass : public Visitor {
 public:
  void OnStart(const ReplayState& state) override { state_ = &state; }
  bool takes_repeats() const override { return true; }  // repeated steps contain no tensors
  std::uint64_t MostRepeats(const RepeatedEvent& event) const override { return event.times; }
  void OnAllocate(const AllocateEvent& event) override;
  void OnDeallocate(const DeallocateEvent& event) override;
  void OnRangeBegin(const RangeBeginEvent& event) override { NoteTensors(event.tensors, 0); }
  void OnRangeEnd(const RangeEndEvent& event) override;
  void OnProcessEnd(const ProcessEvent&) override { live_.clear(); }

  BlockShapeTable Take() { return std::move(shapes_); }

 private:
  struct LiveBlock {
    std::uint64_t ordinal;
    std::uint64_t operator_call;
    std::uint64_t elements;  // elements of the largest tensor so far
  };
  // `ended_call`: OpenRange::call of the operator that returned the tensors; 0 if the tensors are arguments.
  void NoteTensors(absl::Span<const Tensor> tensors, std::uint64_t ended_call);

  const ReplayState* state_ = nullptr;
  absl::flat_hash_map<std::pair<DeviceId, std::uint64_t>, LiveBlock> live_;  // by address
  BlockShapeTable shapes_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_GROUPING_BLOCK_SHAPES_H_
