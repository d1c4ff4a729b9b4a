#include "tools/analyze/compare/parameter_changes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/analyze/compare/short_list.h"
#include "tools/analyze/pass/layer_pattern.h"

namespace memoir {
namespace {

using Kind = ProgramChange::Kind;

// Returns the factor by which a size grew, in thousandths.
std::int64_t FactorOf(const SizePair& sizes) {
  return std::llround(1000.0 * static_cast<double>(sizes.second) / static_cast<double>(sizes.first));
}

// Returns one change for all parameters with a size that changed by the same factor as `main`.
ProgramChange ChangeOfSizes(const std::vector<MatchedParameter>& parameters, const SizePair& main) {
  ProgramChange change{.kind = Kind::kSizes, .a = absl::StrCat(main.first), .b = absl::StrCat(main.second)};
  change.factor = static_cast<double>(main.second) / static_cast<double>(main.first);
  std::set<std::string> places;
  for (const MatchedParameter& one : parameters) {
    std::set<SizePair> sizes = ChangedSizes(one.a, one.b);
    std::erase_if(sizes, [&](const SizePair& other) { return FactorOf(other) != FactorOf(main); });
    if (sizes.empty()) continue;
    change.sizes.merge(sizes);
    places.insert(one.name);
    ++change.count;
    change.bytes += one.bytes;
  }
  change.where = ShortList(places);
  return change;
}

// Returns the name of a parameter, with the numbers of layers replaced: "layers.*.up.weight".
std::string PatternOf(const CommonModule& module, const std::string& name) {
  return (module.path.empty() ? "" : WithLayersMerged(module.path) + ".") + name;
}

using Impl = std::uint64_t MatchedParameter::*;

// Returns one change for the parameters that share their TensorImpl with an earlier parameter in the capture `these`,
// but not in the capture `others`.
ProgramChange SharedOnlyBy(const std::vector<MatchedParameter>& parameters, Impl these, Impl others, Kind kind) {
  ProgramChange change{.kind = kind};
  std::map<std::uint64_t, const MatchedParameter*> first;
  std::set<std::string> places;
  for (const MatchedParameter& one : parameters) {
    const auto [earlier, is_first] = first.try_emplace(one.*these, &one);
    // The addresses of a model's tensors may be used again by another model.
    const bool is_shared = !is_first && one.*these != 0 && earlier->second->root == one.root;
    if (!is_shared || earlier->second->*others == one.*others) continue;
    places.insert(earlier->second->name + " and " + one.name);
    ++change.count;
  }
  change.where = ShortList(places);
  return change;
}

// The parameters of each module, by name.
using ParametersOfModules = std::map<CommonModule, std::map<std::string, const SeenParameter*>>;

// Returns one change for the parameters that `others` lacks, of modules that have parameters in both captures.
ProgramChange OnlyIn(const ParametersOfModules& these, const ParametersOfModules& others, Kind kind) {
  ProgramChange change{.kind = kind};
  std::set<std::string> places;
  for (const auto& [module, parameters] : these) {
    const auto same = others.find(module);
    if (same == others.end()) continue;
    for (const auto& [name, parameter] : parameters) {
      if (same->second.contains(name)) continue;
      places.insert(PatternOf(module, name));
      change.bytes += (kind == Kind::kNewParameters ? 1 : -1) * static_cast<std::int64_t>(parameter->bytes);
      ++change.count;
    }
  }
  change.where = ShortList(places);
  return change;
}

}  // namespace

std::vector<ProgramChange> FindOtherParameters(const CaptureHoldings& a, const CaptureHoldings& b,
                                               const MatchedNames& names) {
  ParametersOfModules of_a, of_b;
  for (const SeenParameter& one : a.facts.parameters) of_a[names.modules().CommonNameInA(one.module)][one.name] = &one;
  for (const SeenParameter& one : b.facts.parameters) of_b[names.modules().CommonNameInB(one.module)][one.name] = &one;
  std::vector<ProgramChange> changes = {OnlyIn(of_b, of_a, Kind::kNewParameters),
                                        OnlyIn(of_a, of_b, Kind::kGoneParameters)};
  std::erase_if(changes, [](const ProgramChange& change) { return change.count == 0; });
  return changes;
}

std::vector<MatchedParameter> MatchParameters(const CaptureHoldings& a, const CaptureHoldings& b,
                                              const MatchedNames& names) {
  using Key = std::pair<CommonModule, std::string>;
  std::map<Key, const SeenParameter*> of_a;
  for (const SeenParameter& one : a.facts.parameters)
    of_a[{names.modules().CommonNameInA(one.module), one.name}] = &one;
  std::vector<MatchedParameter> matched;
  for (const SeenParameter& one : b.facts.parameters) {
    const CommonModule module = names.modules().CommonNameInB(one.module);
    const auto same = of_a.find({module, one.name});
    if (same == of_a.end()) continue;
    matched.push_back({PatternOf(module, one.name), module.root, same->second->shape, one.shape,
                       static_cast<std::int64_t>(one.bytes) - static_cast<std::int64_t>(same->second->bytes),
                       same->second->is_trained, one.is_trained, same->second->impl, one.impl});
  }
  return matched;
}

std::vector<ProgramChange> FindSharedChanges(const std::vector<MatchedParameter>& parameters) {
  std::vector<ProgramChange> changes = {
      SharedOnlyBy(parameters, &MatchedParameter::impl_b, &MatchedParameter::impl_a, Kind::kShared),
      SharedOnlyBy(parameters, &MatchedParameter::impl_a, &MatchedParameter::impl_b, Kind::kUnshared)};
  std::erase_if(changes, [](const ProgramChange& change) { return change.count == 0; });
  return changes;
}

std::vector<ProgramChange> FindSizeChanges(const std::vector<MatchedParameter>& parameters) {
  std::map<SizePair, std::size_t> counts;
  for (const MatchedParameter& one : parameters) {
    for (const SizePair& sizes : ChangedSizes(one.a, one.b)) ++counts[sizes];
  }
  std::vector<std::pair<std::size_t, SizePair>> ranked;
  for (const auto& [sizes, count] : counts) ranked.emplace_back(count, sizes);
  std::ranges::stable_sort(ranked, std::greater(), &std::pair<std::size_t, SizePair>::first);
  std::vector<ProgramChange> changes;
  std::set<std::int64_t> factors;
  for (const auto& [count, sizes] : ranked) {
    if (factors.insert(FactorOf(sizes)).second) changes.push_back(ChangeOfSizes(parameters, sizes));
  }
  return changes;
}

std::vector<ProgramChange> FindTrainedChanges(const std::vector<MatchedParameter>& parameters) {
  if (std::ranges::none_of(parameters, &MatchedParameter::is_trained_in_a) ||
      std::ranges::none_of(parameters, &MatchedParameter::is_trained_in_b))
    return {};
  ProgramChange trained{.kind = Kind::kTrained}, frozen{.kind = Kind::kFrozen};
  std::set<std::string> trained_names, frozen_names;
  for (const MatchedParameter& one : parameters) {
    if (one.is_trained_in_a == one.is_trained_in_b) continue;
    ++(one.is_trained_in_b ? trained : frozen).count;
    (one.is_trained_in_b ? trained_names : frozen_names).insert(one.name);
  }
  trained.where = ShortList(trained_names);
  frozen.where = ShortList(frozen_names);
  std::vector<ProgramChange> changes;
  if (trained.count > 0) changes.push_back(std::move(trained));
  if (frozen.count > 0) changes.push_back(std::move(frozen));
  return changes;
}

}  // namespace memoir
