#include "tools/analyze/compare/program_changes.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/analyze/compare/call_changes.h"
#include "tools/analyze/compare/input_changes.h"
#include "tools/analyze/compare/parameter_changes.h"
#include "tools/analyze/compare/short_list.h"
#include "tools/analyze/pass/layer_pattern.h"

namespace memoir {
namespace {

using Kind = ProgramChange::Kind;

// Returns true for operators that autocast computes in the lower precision. The data type of other results follows
// from these, or never changes: a loss is float32 even with autocast.
bool IsCastByAutocast(std::string_view operator_name) {
  constexpr std::string_view kPrefix = "aten::";
  static constexpr std::array<std::string_view, 8> kCast = {"linear", "mm",      "addmm", "bmm",
                                                            "matmul", "baddbmm", "lstm",  "gru"};
  if (!operator_name.starts_with(kPrefix)) return false;
  operator_name.remove_prefix(kPrefix.size());
  if (operator_name.starts_with("conv") || operator_name.starts_with("scaled_dot_product_attention")) return true;
  return std::ranges::find(kCast, operator_name.substr(0, operator_name.find('.'))) != kCast.end();
}

class ChangeFinder {
 public:
  ChangeFinder(const CaptureHoldings& a, const CaptureHoldings& b, const MatchedNames& names)
      : a_(a), b_(b), names_(names), parameters_(MatchParameters(a, b, names)) {}

  std::vector<ProgramChange> Find() {
    FindModules();
    Add(FindOtherParameters(a_, b_, names_));
    Add(FindSharedChanges(parameters_));
    Add(FindSizeChanges(parameters_));
    FindTypes();
    Add(FindTrainedChanges(parameters_));
    Add(FindInputChanges(a_, b_, names_));
    FindOptimizers();
    FindCheckpointing();
    Add(FindCallChanges(a_, b_, names_));
    Add(FindGradientChanges(a_.facts.calls, b_.facts.calls, names_));
    return std::move(changes_);
  }

 private:
  using Modules = std::map<CommonModule, std::string>;  // class by module

  Modules ModulesOfA() const {
    Modules modules;
    for (const Module& module : a_.modules) modules[names_.modules().CommonNameInA(module)] = module.class_name;
    for (const SeenParameter& one : a_.facts.parameters)
      modules[names_.modules().CommonNameInA(one.module)] = one.module.class_name;
    return modules;
  }
  Modules ModulesOfB() const {
    Modules modules;
    for (const Module& module : b_.modules) modules[names_.modules().CommonNameInB(module)] = module.class_name;
    for (const SeenParameter& one : b_.facts.parameters)
      modules[names_.modules().CommonNameInB(one.module)] = one.module.class_name;
    return modules;
  }
  bool IsCounted(const CommonModule& module) const {
    return std::ranges::any_of(names_.modules().layer_counts(),
                               [&](const LayerCount& count) { return count.Has(module.root, module.path); });
  }

  // Adds the modules that `others` lacks. Leaves out a module inside of a module that was already added.
  void AddModules(Kind kind, const Modules& modules, const Modules& others,
                  const std::vector<SeenParameter>& parameters) {
    const bool of_b = kind == Kind::kNewModules;
    ProgramChange change{.kind = kind};
    // Names of modules, by pattern: "layers.*.dropout (Dropout)".
    std::map<std::string, std::set<std::string>> by_pattern;
    for (const auto& [module, class_name] : modules) {
      if (others.contains(module) || IsCounted(module)) continue;
      const bool is_inside =
          std::ranges::any_of(change.modules, [&](const CommonModule& other) { return module.IsInside(other); });
      if (is_inside) continue;
      change.modules.push_back(module);
      const std::string of_class = class_name.empty() || module.path.empty() ? "" : absl::StrCat(" (", class_name, ")");
      const bool is_number = module.path.find_first_not_of("0123456789") == std::string::npos;
      const std::string place = is_number && !module.path.empty() ? module.root + "." + module.path : module.place();
      by_pattern[WithLayersMerged(place) + of_class].insert(place + of_class);
    }
    if (change.modules.empty()) return;
    std::set<std::string> places;
    for (const auto& [pattern, alike] : by_pattern) places.insert(alike.size() == 1 ? *alike.begin() : pattern);
    change.where = ShortList(places);
    change.count = change.modules.size();
    for (const SeenParameter& one : parameters) {
      const CommonModule module =
          of_b ? names_.modules().CommonNameInB(one.module) : names_.modules().CommonNameInA(one.module);
      const bool is_new = !others.contains(module) && !IsCounted(module);
      if (is_new) change.bytes += (of_b ? 1 : -1) * static_cast<std::int64_t>(one.bytes);
    }
    changes_.push_back(std::move(change));
  }

  void FindModules() {
    if (a_.modules.empty() || b_.modules.empty()) return;
    const Modules of_a = ModulesOfA(), of_b = ModulesOfB();
    AddModules(Kind::kNewModules, of_b, of_a, b_.facts.parameters);
    AddModules(Kind::kGoneModules, of_a, of_b, a_.facts.parameters);
    for (const LayerCount& count : WithPlacesMerged(names_.modules().layer_counts()))
      changes_.push_back(
          {.kind = Kind::kLayers, .where = count.place, .a = absl::StrCat(count.a), .b = absl::StrCat(count.b)});
  }

  // Adds a change of data types if at least half of the shapes, and not fewer than `least` shapes, have this change.
  template <class Shapes>
  void AddTypes(Kind kind, const Shapes& shapes, std::size_t least) {
    std::map<std::pair<std::string, std::string>, std::size_t> counts;
    for (const auto& [a, b] : shapes) counts[{a.dtype, b.dtype}] += a.dtype != b.dtype;
    for (const auto& [types, count] : counts) {
      if (count >= least && 2 * count >= shapes.size())
        changes_.push_back({.kind = kind, .a = types.first, .b = types.second, .count = count});
    }
  }

  void FindTypes() {
    std::vector<std::pair<TensorShape, TensorShape>> parameters, results;
    for (const MatchedParameter& one : parameters_) parameters.emplace_back(one.a, one.b);
    const std::size_t before = changes_.size();
    AddTypes(Kind::kParameterType, parameters, 1);
    if (changes_.size() > before) return;  // the data types of results follow from the data types of parameters
    for (const auto& [place, seen] : a_.facts.results) {
      const TensorShape& shape = seen.shape;
      if (!IsCastByAutocast(place.second)) continue;
      const auto same = b_.facts.results.find({names_.LineKeyOf(place.first), place.second});
      const bool is_float = shape.dtype.find("float") != std::string::npos;
      if (same != b_.facts.results.end() && is_float) results.emplace_back(shape, same->second.shape);
    }
    constexpr std::size_t kFewestLines = 3;
    AddTypes(Kind::kResultType, results, kFewestLines);
  }

  void Add(std::vector<ProgramChange> changes) { std::ranges::move(changes, std::back_inserter(changes_)); }

  void FindOptimizers() {
    const auto &in_a = a_.facts.optimizers, &in_b = b_.facts.optimizers;
    if (in_a.empty() || in_b.empty()) return;
    const std::optional<std::size_t> states_a = a_.facts.states_of_parameter, states_b = b_.facts.states_of_parameter;
    if (in_a == in_b && states_a && states_b && states_a != states_b) {
      changes_.push_back({.kind = Kind::kOptimizerState,
                          .where = absl::StrJoin(in_b, ", "),
                          .a = absl::StrCat(*states_a),
                          .b = absl::StrCat(*states_b)});
    }
    if (in_a == in_b) return;
    changes_.push_back({.kind = Kind::kOptimizer, .a = absl::StrJoin(in_a, ", "), .b = absl::StrJoin(in_b, ", ")});
  }

  void FindCheckpointing() {
    std::set<CommonModule> of_a, of_b;
    for (const auto& [name, module] : a_.facts.recomputed) of_a.insert(names_.modules().CommonNameInA(module));
    for (const auto& [name, module] : b_.facts.recomputed) of_b.insert(names_.modules().CommonNameInB(module));
    const Modules in_a = ModulesOfA(), in_b = ModulesOfB();
    const auto add = [&](Kind kind, const std::set<CommonModule>& modules, const std::set<CommonModule>& others) {
      ProgramChange change{.kind = kind};
      std::set<std::string> places;
      for (const CommonModule& module : modules) {
        if (others.contains(module) || !in_a.contains(module) || !in_b.contains(module)) continue;
        ++change.count;
        const std::string place = WithLayersMerged(module.place());
        const bool is_inside =
            std::ranges::any_of(places, [&](const std::string& of) { return place.starts_with(of + "."); });
        if (!is_inside) places.insert(place);
      }
      change.where = ShortList(places);
      if (change.count > 0) changes_.push_back(std::move(change));
    };
    add(Kind::kCheckpointed, of_b, of_a);
    add(Kind::kKept, of_a, of_b);
  }

  const CaptureHoldings &a_, &b_;
  const MatchedNames& names_;
  const std::vector<MatchedParameter> parameters_;
  std::vector<ProgramChange> changes_;
};

}  // namespace

std::string_view ToString(ProgramChange::Kind kind) {
  constexpr std::string_view kWords[] = {
      "new_modules",  "gone_modules",  "layers",          "new_parameters", "gone_parameters",  "shared",
      "unshared",     "sizes",         "parameter_type",  "result_type",    "trained",          "frozen",
      "inputs",       "optimizer",     "optimizer_state", "checkpointed",   "not_checkpointed", "autograd_on",
      "autograd_off", "new_call",      "gone_call",       "calls_in_step",  "calls_in_call",    "gradients",
      "live_calls",   "earlier_steps", "operator",        "first_shape"};
  return kWords[static_cast<std::size_t>(kind)];
}

std::vector<ProgramChange> FindProgramChanges(const CaptureHoldings& a, const CaptureHoldings& b,
                                              const MatchedNames& names) {
  return ChangeFinder(a, b, names).Find();
}

}  // namespace memoir
