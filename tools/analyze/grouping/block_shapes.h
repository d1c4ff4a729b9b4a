// The shape of every block: the largest tensor that was seen on it as an argument or result while it lived. Of two as
// large, the one that the operator returned which allocated it, else the first. Memory that no tensor showed (scratch
// space inside a kernel) has none: a shape never claims bytes that are not its own.
#ifndef TOOLS_ANALYZE_GROUPING_BLOCK_SHAPES_H_
#define TOOLS_ANALYZE_GROUPING_BLOCK_SHAPES_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/categories/by_ordinal.h"
#include "tools/model/capture.h"

namespace memoir {

using ShapesOfBlocks = ByOrdinal<LayoutId, LayoutId{}>;

// Needs a replay with tensors.
class BlockShapes : public Visitor {
 public:
  void OnStart(const ReplayState& state) override { state_ = &state; }
  bool takes_repeats() const override { return true; }  // what repeats shows no tensors
  std::uint64_t MostRepeats(const RepeatedEvent& event) const override { return event.times; }
  void OnAllocate(const AllocateEvent& event) override;
  void OnDeallocate(const DeallocateEvent& event) override;
  void OnRangeBegin(const RangeBeginEvent& event) override { See(event.tensors, 0); }
  void OnRangeEnd(const RangeEndEvent& event) override;
  void OnProcessEnd(const ProcessEvent&) override { live_.clear(); }

  // Invalid: no tensor was seen; a block that is inferred has the shape of its counterpart then.
  ShapesOfBlocks Take() { return std::move(shapes_); }

 private:
  struct Live {
    std::uint64_t ordinal;
    std::uint64_t operator_call;
    std::uint64_t elements;  // of the largest tensor so far
  };
  // `ended_call`: the call whose results these are; 0: arguments.
  void See(absl::Span<const Tensor> tensors, std::uint64_t ended_call);

  const ReplayState* state_ = nullptr;
  absl::flat_hash_map<std::pair<DeviceId, std::uint64_t>, Live> live_;  // by address
  ShapesOfBlocks shapes_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_GROUPING_BLOCK_SHAPES_H_
