#include "tools/analyze/compare/input_changes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace memoir {
namespace {

using Inputs = std::map<TensorShape, std::uint64_t>;  // how often each shape occurred

// A program with more shapes than this has inputs of varying sizes.
constexpr std::size_t kVarying = 8;

// Returns the most frequent shape that `others` lacks. If the input has more than kVarying shapes, returns the
// largest shape.
std::optional<TensorShape> OwnInput(const Inputs& inputs, const Inputs& others) {
  const std::pair<const TensorShape, std::uint64_t>* own = nullptr;
  for (const auto& input : inputs) {
    if (others.contains(input.first) && inputs.size() <= kVarying) continue;
    const auto key = [&](const auto& one) {
      return std::pair(inputs.size() <= kVarying ? one.second : 0, one.first.elements());
    };
    if (own == nullptr || key(input) > key(*own)) own = &input;
  }
  return own == nullptr ? std::nullopt : std::optional(own->first);
}

// Returns the shape of `inputs` that replaces `own`, the OwnInput() of `others`. The returned shape is more frequent in
// `inputs` than in `others`, by about as many calls as `others` has with `own`. For example, training now uses the
// batch size that only evaluation used before.
std::optional<TensorShape> MoreFrequentInput(const Inputs& inputs, const Inputs& others, const TensorShape& own) {
  const std::uint64_t calls = others.at(own);
  std::uint64_t all = 0;
  for (const auto& [shape, count] : others) all += count;
  if (4 * calls < all) return std::nullopt;  // `own` is rare, such as a smaller last batch
  std::optional<TensorShape> most;
  std::uint64_t largest = 0;
  for (const auto& [shape, count] : inputs) {
    const auto same = others.find(shape);
    const std::uint64_t before = same == others.end() ? 0 : same->second;
    const std::uint64_t more = count > before ? count - before : 0;
    if (more <= largest || 2 * more < calls || more > 2 * calls) continue;
    largest = more;
    most = shape;
  }
  return most;
}

// Returns the name of the dimension that changed. A two-dimensional input of integers contains token ids, and has the
// dimensions batch and sequence. The first dimension of any other input is the batch. Empty if unknown.
std::string DimensionOf(const TensorShape& a, const TensorShape& b) {
  std::vector<std::size_t> changed;
  for (std::size_t i = 0; i < a.sizes.size(); ++i) {
    if (a.sizes[i] != b.sizes[i]) changed.push_back(i);
  }
  if (changed.size() != 1 || a.sizes.size() < 2) return "";
  const bool are_words = a.dtype.starts_with("int") && a.sizes.size() == 2;
  return changed[0] == 0 ? "batch" : are_words ? "sequence" : "";
}

// Returns true if fewer than a fifth of the calls have the shape, and the shapes do not vary. The program may have made
// such an input itself.
bool IsRare(const TensorShape& shape, const Inputs& inputs) {
  std::uint64_t all = 0;
  for (const auto& [other, count] : inputs) all += count;
  return inputs.size() <= kVarying && 5 * inputs.at(shape) < all;
}

std::optional<ProgramChange> ChangeOf(const std::string& root, const Inputs& in_a, const Inputs& in_b) {
  std::optional<TensorShape> own_a = OwnInput(in_a, in_b), own_b = OwnInput(in_b, in_a);
  if (own_a && IsRare(*own_a, in_a)) own_a.reset();
  if (own_b && IsRare(*own_b, in_b)) own_b.reset();
  if (own_a && !own_b) own_b = MoreFrequentInput(in_b, in_a, *own_a);
  if (own_b && !own_a) own_a = MoreFrequentInput(in_a, in_b, *own_b);
  if (!own_a || !own_b || own_a->sizes == own_b->sizes || own_a->sizes.size() != own_b->sizes.size()) return {};
  const double factor =
      static_cast<double>(own_b->elements()) / static_cast<double>(std::max<std::uint64_t>(own_a->elements(), 1));
  constexpr double kNoise = 0.2;
  if (in_a.size() > kVarying && std::abs(factor - 1) < kNoise) return {};
  return ProgramChange{.kind = ProgramChange::Kind::kInputs,
                       .where = root,
                       .a = ToString(*own_a),
                       .b = ToString(*own_b),
                       .factor = factor,
                       .dimension = DimensionOf(*own_a, *own_b),
                       .sizes = ChangedSizes(*own_a, *own_b)};
}

// Returns true if the module, or a module inside of it, has parameters. Also true if no parameters were recorded at
// all.
bool HasParameters(const std::string& module, const CaptureHoldings& held) {
  if (held.facts.parameters.empty()) return true;
  return std::ranges::any_of(held.facts.parameters, [&](const SeenParameter& one) {
    const std::string place = one.module.full_path();
    return place == module || place.starts_with(module + ".");
  });
}

}  // namespace

std::vector<ProgramChange> FindInputChanges(const CaptureHoldings& a, const CaptureHoldings& b,
                                            const MatchedNames& names) {
  std::vector<ProgramChange> changes;
  for (const auto& [root, inputs] : a.facts.inputs) {
    const auto same =
        std::ranges::find_if(b.facts.inputs, [&](const auto& other) { return names.AreSameModel(root, other.first); });
    if (same == b.facts.inputs.end()) continue;
    if (auto change = ChangeOf(same->first, inputs, same->second)) changes.push_back(*std::move(change));
  }
  const auto has_none = [&](const ProgramChange& change) { return !HasParameters(change.where, b); };
  if (std::ranges::all_of(changes, has_none)) {
    // The first dimension of a loss's input may be batch times sequence.
    for (ProgramChange& change : changes) change.dimension.clear();
  } else {
    std::erase_if(changes, has_none);
  }
  std::ranges::stable_partition(changes, [](const ProgramChange& change) { return !change.is_inside_of_model(); });
  return changes;
}

}  // namespace memoir
