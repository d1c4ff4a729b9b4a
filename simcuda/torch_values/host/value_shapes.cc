#include "simcuda/torch_values/host/value_shapes.h"

#include <ATen/core/Tensor.h>
#include <c10/core/WrapDimMinimal.h>

#include <algorithm>

namespace memoir {
namespace {

std::uint64_t Elements(const c10::IValue& tensor) { return static_cast<std::uint64_t>(tensor.toTensor().numel()); }

ShapeAnswers One(std::uint64_t value, bool is_decision) { return {{value, value}, 1, is_decision}; }

// The number of nonzero elements. If the values are unknown, the policy chooses 0, or the number of all elements.
ShapeAnswers OfNonzero(IValues arguments, IValues results, bool takes_most) {
  if (!results.empty()) return One(static_cast<std::uint64_t>(results[0].toTensor().size(0)), false);
  const std::uint64_t all = Elements(arguments[0]);
  return all == 0 ? ShapeAnswers{} : One(takes_most ? all : 0, true);
}

// The number of different elements. If the values are unknown, the policy chooses 1, or the number of all elements.
ShapeAnswers OfUnique(IValues arguments, IValues results, bool takes_most) {
  if (!results.empty()) return One(Elements(results[0]), false);
  const std::uint64_t all = Elements(arguments[0]);
  return all == 0 ? ShapeAnswers{} : One(takes_most ? all : 1, true);
}

ShapeAnswers OfSlices(const c10::IValue& along, IValues arguments, IValues results, bool takes_most) {
  const at::Tensor& of = results.empty() ? arguments[0].toTensor() : results[0].toTensor();
  const std::int64_t dimension = c10::maybe_wrap_dim(along.toInt(), std::max<std::int64_t>(of.dim(), 1));
  const auto slices = static_cast<std::uint64_t>(of.dim() == 0 ? 1 : of.size(dimension));
  if (!results.empty()) return One(slices, false);
  return slices == 0 ? ShapeAnswers{} : One(takes_most ? slices : 1, true);
}

ShapeAnswers OfUniqueSlices(IValues arguments, IValues results, bool takes_most) {
  return OfSlices(arguments[1], arguments, results, takes_most);
}

ShapeAnswers OfUniqueConsecutive(IValues arguments, IValues results, bool takes_most) {
  return arguments[3].isNone() ? OfUnique(arguments, results, takes_most)
                               : OfSlices(arguments[3], arguments, results, takes_most);
}

// One value, which torch reads both as the smallest and as the largest element. The largest element has no upper bound.
// So if the elements are unknown, the policy chooses 0, or the number of elements minus 1.
ShapeAnswers OfBincount(IValues arguments, IValues results, bool takes_most) {
  const std::uint64_t all = Elements(arguments[0]);
  if (!results.empty() || all == 0) return {};
  return One(takes_most ? all - 1 : 0, true);
}

// The first value is the sum of the repeats, which has no upper bound. If the repeats are unknown, the policy chooses
// 0, or the number of elements. The second value is 1, because all repeats are nonnegative.
ShapeAnswers OfRepeatInterleave(IValues arguments, IValues results, bool takes_most) {
  const std::uint64_t all = Elements(arguments[0]);
  if (!results.empty() || all == 0 || !arguments[1].isNone()) return {};
  return {{takes_most ? all : 0, 1}, 2, true};
}

// The results of two checks of the probabilities; no shape depends on them. The first value is 1: all probabilities are
// assumed to be valid. The second value is 0: at least one probability is assumed not to be zero.
ShapeAnswers OfMultinomial(IValues, IValues results, bool) {
  return results.empty() ? ShapeAnswers{{1, 0}, 2, false} : ShapeAnswers{};
}

struct Row {
  std::string_view name;
  ShapeRule rule;
};
constexpr Row kRules[] = {{"aten::nonzero", OfNonzero},         {"aten::_unique", OfUnique},
                          {"aten::_unique2", OfUnique},         {"aten::unique_consecutive", OfUniqueConsecutive},
                          {"aten::unique_dim", OfUniqueSlices}, {"aten::unique_dim_consecutive", OfUniqueSlices},
                          {"aten::bincount", OfBincount},       {"aten::repeat_interleave", OfRepeatInterleave},
                          {"aten::multinomial", OfMultinomial}};

}  // namespace

ShapeRule FindShapeRule(std::string_view name) {
  const auto* const found = std::ranges::find(kRules, name, &Row::name);
  return found == std::end(kRules) ? nullptr : found->rule;
}

}  // namespace memoir
