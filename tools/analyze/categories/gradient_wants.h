// Which tensors require a gradient. A recording has it for leaf tensors; for results of operators it is derived.
#ifndef TOOLS_ANALYZE_CATEGORIES_GRADIENT_WANTS_H_
#define TOOLS_ANALYZE_CATEGORIES_GRADIENT_WANTS_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "tools/model/event.h"

namespace memoir {

enum class Wants : std::uint8_t { kNo, kMaybe, kYes };

class GradientWants {
 public:
  Wants Of(const Tensor& tensor) const {
    if (tensor.wants_gradient) return Wants::kYes;
    const auto known = by_impl_.find(tensor.impl);
    return known == by_impl_.end() ? Wants::kMaybe : known->second.wants;
  }
  // What an operator computes from them; kMaybe of none.
  Wants OfAny(absl::Span<const Tensor> tensors) const {
    Wants any = tensors.empty() ? Wants::kMaybe : Wants::kNo;
    for (const Tensor& tensor : tensors) {
      if (tensor.impl != 0 && Of(tensor) > any) any = Of(tensor);
    }
    return any;
  }
  // `call`: of the operator that gave it.
  void Note(const Tensor& tensor, Wants wants, std::uint64_t call) {
    if (tensor.impl != 0) by_impl_[tensor.impl] = {wants, call};
  }
  // Whether it is known from an operator that began after `call`: one inside of that.
  bool IsKnownSince(const Tensor& tensor, std::uint64_t call) const {
    const auto known = by_impl_.find(tensor.impl);
    return known != by_impl_.end() && known->second.call > call;
  }
  void Clear() { by_impl_.clear(); }

 private:
  struct Known {
    Wants wants = Wants::kMaybe;
    std::uint64_t call = 0;
  };
  absl::flat_hash_map<std::uint64_t, Known> by_impl_;  // addresses come again: as many as there were at a time
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_GRADIENT_WANTS_H_
