// Finds which tensors require a gradient. The recording contains this property only for leaf tensors. For the result of
// an operator, this class derives the property from the operator's arguments.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_GRADIENT_WANTS_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_GRADIENT_WANTS_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "tools/model/event/event.h"

namespace memoir {

enum class GradientWant : std::uint8_t { kNo, kMaybe, kYes };

class GradientWants {
 public:
  GradientWant WantOf(const Tensor& tensor) const {
    if (tensor.wants_gradient) return GradientWant::kYes;
    const auto known = by_impl_.find(tensor.impl);
    return known == by_impl_.end() ? GradientWant::kMaybe : known->second.wants;
  }
  // Returns whether a result that an operator computes from these tensors requires a gradient. kMaybe without tensors.
  GradientWant StrongestWantOf(absl::Span<const Tensor> tensors) const {
    GradientWant any = tensors.empty() ? GradientWant::kMaybe : GradientWant::kNo;
    for (const Tensor& tensor : tensors) {
      if (tensor.impl != 0 && WantOf(tensor) > any) any = WantOf(tensor);
    }
    return any;
  }
  // `call`: the operator call that returned the tensor.
  void Note(const Tensor& tensor, GradientWant wants, std::uint64_t call) {
    if (tensor.impl != 0) by_impl_[tensor.impl] = {wants, call};
  }
  // Returns true if an operator inside of `call`, that is, with a larger call number, has already noted the tensor.
  bool IsKnownSince(const Tensor& tensor, std::uint64_t call) const {
    const auto known = by_impl_.find(tensor.impl);
    return known != by_impl_.end() && known->second.call > call;
  }
  void Clear() { by_impl_.clear(); }

 private:
  struct LatestWant {
    GradientWant wants = GradientWant::kMaybe;
    std::uint64_t call = 0;
  };
  // By address of the TensorImpl. torch reuses addresses, so there are at most as many entries as tensors existed at
  // one time.
  absl::flat_hash_map<std::uint64_t, LatestWant> by_impl_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_GRADIENT_WANTS_H_
