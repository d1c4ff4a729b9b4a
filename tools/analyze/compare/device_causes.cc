#include "tools/analyze/compare/device_causes.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/analyze/compare/short_list.h"

namespace memoir {
namespace {

using Kind = ProgramChange::Kind;

// Returns the bytes of B's blocks of `category`, minus the bytes of A's. Includes categories with a detail after the
// name, for example "gradient (bucket)".
std::int64_t MoreOf(const std::vector<MatchedPart>& parts, std::string_view category) {
  std::int64_t more = 0;
  for (const MatchedPart& part : parts) more += part.category.starts_with(category) ? part.difference() : 0;
  return more;
}

// Returns the growth of the parameters, plus the growth of the live bytes that belong to the changed modules.
std::int64_t MoreIn(const ProgramChange& change, const std::vector<MatchedPart>& parts) {
  std::int64_t more = change.bytes;
  for (const MatchedPart& part : parts) {
    const bool is_inside = part.is_of_module && std::ranges::any_of(change.modules, [&](const CommonModule& module) {
                             return part.module == module || part.module.IsInside(module);
                           });
    if (is_inside) more += part.difference();
  }
  return more;
}

// Returns true if a size of an input changed from the same value (in A) to the same value (in B) as a size of the
// parameters in `change`. For example, more patches of an image make both the input sequence and the table of positions
// longer.
bool HasSizesOfInput(const ProgramChange& change, const std::vector<ProgramChange>& changes) {
  return std::ranges::any_of(changes, [&](const ProgramChange& other) {
    return other.kind == Kind::kInputs &&
           std::ranges::any_of(change.sizes, [&](const auto& sizes) { return other.sizes.contains(sizes); });
  });
}

// Returns true if `part` has the sign of `whole`, and |part| is at least |whole| / `share`.
bool IsShare(std::int64_t part, std::int64_t whole, std::int64_t share) {
  return (part > 0) == (whole > 0) && part != 0 && share * std::abs(part) >= std::abs(whole);
}

// Returns true if the change may explain the difference `total`.
bool IsCause(const ProgramChange& change, const std::vector<ProgramChange>& changes,
             const std::vector<MatchedPart>& parts, std::int64_t total) {
  switch (change.kind) {
    case Kind::kNewModules:
    case Kind::kGoneModules:
      return IsShare(MoreIn(change, parts), total, 4);
    case Kind::kSizes:
      return IsShare(change.bytes, total, 50) || HasSizesOfInput(change, changes);
    case Kind::kOptimizer:
    case Kind::kOptimizerState:
      return IsShare(MoreOf(parts, "optimizer state"), total, 4);
    case Kind::kNewParameters:
    case Kind::kGoneParameters:
      return IsShare(change.bytes, total, 50);
    case Kind::kGradients:
      // A result that autograd adds to an existing gradient is an autograd detail.
      return !change.where.empty() || IsShare(MoreOf(parts, "gradient") + MoreOf(parts, "autograd detail"), total, 4);
    case Kind::kUnshared:
    case Kind::kTrained:
    case Kind::kAutogradOn:
    case Kind::kNewCall:
      return total > 0;
    case Kind::kShared:
    case Kind::kFrozen:
    case Kind::kAutogradOff:
    case Kind::kGoneCall:
      return total < 0;
    case Kind::kInputs:
      return change.factor == 1 || (change.factor > 1) == (total > 0);
    default:
      return true;
  }
}

// Returns true if autograd is on or off in a module inside of a model. This may follow from another change: a module
// that was an identity may have layers now.
bool IsAutogradInsideOfModel(const ProgramChange& change) {
  return (change.kind == Kind::kAutogradOn || change.kind == Kind::kAutogradOff) && !change.source.known() &&
         change.is_inside_of_model();
}

// Adds new modules as the cause of a growth, or gone modules as the cause of a decrease, even if the changed bytes
// belong to other modules. For example, a new module may only save its input, which another module made.
void AddOnlyModules(const std::vector<ProgramChange>& changes, std::int64_t total, std::vector<ProgramChange>& causes) {
  const auto find = [&](Kind kind) { return std::ranges::find(changes, kind, &ProgramChange::kind); };
  const auto added = find(Kind::kNewModules), gone = find(Kind::kGoneModules);
  if ((added == changes.end()) == (gone == changes.end())) return;
  if (total > 0 && added != changes.end()) causes.push_back(*added);
  if (total < 0 && gone != changes.end()) causes.push_back(*gone);
}

// If one size of the parameters is a cause, adds the other sizes after it, which belong to the same edit: smaller
// patches of an image need a longer table of positions.
void AddOtherSizes(const std::vector<ProgramChange>& changes, std::vector<ProgramChange>& causes) {
  const auto first = std::ranges::find(causes, Kind::kSizes, &ProgramChange::kind);
  if (first == causes.end()) return;
  std::vector<ProgramChange> others;
  for (const ProgramChange& change : changes) {
    const auto is_same = [&](const ProgramChange& cause) {
      return cause.kind == Kind::kSizes && cause.where == change.where;
    };
    if (change.kind == Kind::kSizes && std::ranges::none_of(causes, is_same)) others.push_back(change);
  }
  causes.insert(std::next(first), others.begin(), others.end());
}

// Adds models whose number of calls with live tensors changed, for example because a list keeps outputs and graphs.
void AddLiveCalls(const MatchedDevice& device, const MatchedNames& names, std::int64_t total,
                  std::vector<ProgramChange>& causes) {
  for (const auto& [model_a, calls_a] : device.a.live_calls) {
    for (const auto& [model_b, calls_b] : device.b.live_calls) {
      const bool fits = calls_a != calls_b && (calls_b > calls_a) == (total > 0);
      if (!fits || !names.AreSameModel(model_a, model_b)) continue;
      causes.push_back(
          {.kind = Kind::kLiveCalls, .where = model_b, .a = absl::StrCat(calls_a), .b = absl::StrCat(calls_b)});
    }
  }
}

// Returns true for parameters, gradients, optimizer state and library workspaces.
bool AlwaysStays(const MatchedPart& part) {
  return part.is_of_library || part.category == "parameter" || part.category.starts_with("gradient") ||
         part.category.starts_with("optimizer state");
}

// Adds the tensors that are kept from step to step, such as outputs in a list, if they make up most of the difference.
void AddEarlierSteps(const std::vector<MatchedPart>& parts, std::int64_t total, std::vector<ProgramChange>& causes) {
  ProgramChange change{.kind = Kind::kEarlierSteps};
  for (const MatchedPart& part : parts) {
    if (AlwaysStays(part)) continue;
    change.bytes += static_cast<std::int64_t>(part.b.before_step) - static_cast<std::int64_t>(part.a.before_step);
  }
  const bool is_most = (change.bytes > 0) == (total > 0) && 3 * std::abs(change.bytes) >= 2 * std::abs(total);
  if (is_most) causes.push_back(std::move(change));
}

// Returns the first line of the program at which forward runs some operators only in A and others only in B.
std::optional<ProgramChange> FindOperatorChange(const CaptureHoldings& a, const CaptureHoldings& b,
                                                const MatchedNames& names) {
  // By line of B: the operators that only A or only B runs there.
  struct Operators {
    std::set<std::string> a, b;
    const SeenResult* first = nullptr;  // B's first result at the line
  };
  std::map<std::string, Operators> lines;
  for (const auto& [place, seen] : b.facts.results) {
    if (seen.order == 0) continue;
    Operators& line = lines[place.first];
    line.b.insert(place.second);
    if (line.first == nullptr || seen.order < line.first->order) line.first = &seen;
  }
  for (const auto& [place, seen] : a.facts.results) {
    const auto same = lines.find(names.LineKeyOf(place.first));
    if (seen.order == 0 || same == lines.end()) continue;
    if (same->second.b.erase(place.second) == 0) same->second.a.insert(place.second);
  }
  const Operators* first = nullptr;
  for (const auto& [name, line] : lines) {
    const bool is_replaced = !line.a.empty() && !line.b.empty();
    if (is_replaced && (first == nullptr || line.first->order < first->first->order)) first = &line;
  }
  if (first == nullptr) return std::nullopt;
  return ProgramChange{
      .kind = Kind::kOperator, .a = ShortList(first->a), .b = ShortList(first->b), .source = first->first->line};
}

// Returns the first tensor of forward, in the order of B, that the same line and operator make with another shape.
std::optional<ProgramChange> FindFirstShape(const CaptureHoldings& a, const CaptureHoldings& b,
                                            const MatchedNames& names) {
  const SeenResult *first_a = nullptr, *first_b = nullptr;
  std::string operator_name;
  for (const auto& [place, seen] : a.facts.results) {
    const auto same = b.facts.results.find({names.LineKeyOf(place.first), place.second});
    if (same == b.facts.results.end() || same->second.shape == seen.shape) continue;
    if (seen.order == 0 || same->second.order == 0) continue;
    if (first_b != nullptr && first_b->order < same->second.order) continue;
    first_a = &seen;
    first_b = &same->second;
    operator_name = place.second;
  }
  if (first_b == nullptr) return std::nullopt;
  return ProgramChange{
      .kind = Kind::kFirstShape,
      .where = operator_name,
      .a = ToString(first_a->shape),
      .b = ToString(first_b->shape),
      .factor = static_cast<double>(first_b->shape.elements()) / static_cast<double>(first_a->shape.elements()),
      .source = first_b->line};
}

}  // namespace

std::vector<MatchedPart> PartsOfEarlierSteps(std::vector<MatchedPart> parts) {
  std::erase_if(parts, AlwaysStays);
  for (MatchedPart& part : parts) {
    const std::uint64_t more_in_b = part.b.before_step - part.a.before_step;  // modulo 2^64
    if (part.b.bytes == 0) part.a.bytes = part.a.requested = part.a.before_step;
    if (part.b.bytes > 0) part.b.bytes = part.a.bytes + more_in_b;
    if (part.b.bytes > 0) part.b.requested = part.a.requested + more_in_b;
  }
  return parts;
}

std::vector<ProgramChange> CausesOf(const MatchedDevice& device, const std::vector<ProgramChange>& changes,
                                    const MatchedNames& names) {
  const std::vector<MatchedPart>& parts = device.parts;
  std::int64_t total = 0;
  for (const MatchedPart& part : parts) total += part.difference();
  std::vector<ProgramChange> causes;
  if (total == 0) return causes;
  for (const ProgramChange& change : changes) {
    if (!IsAutogradInsideOfModel(change) && IsCause(change, changes, parts, total)) causes.push_back(change);
  }
  // If the peaks are in different phases, different tensors of earlier steps are live anyway.
  if (device.a.phase == device.b.phase) AddEarlierSteps(parts, total, causes);
  AddLiveCalls(device, names, total, causes);
  if (causes.empty()) AddOnlyModules(changes, total, causes);
  // Parameters of another size may have few bytes themselves, but change the size of the activations.
  for (const ProgramChange& change : changes) {
    const bool fits = change.kind == Kind::kSizes && change.factor != 1 && (change.factor > 1) == (total > 0);
    if (causes.empty() && fits) causes.push_back(change);
  }
  AddOtherSizes(changes, causes);
  for (const ProgramChange& change : changes) {
    const bool fits = IsAutogradInsideOfModel(change) && IsCause(change, changes, parts, total);
    if (fits && (causes.empty() || IsAutogradInsideOfModel(causes.front()))) causes.push_back(change);
  }
  return causes;
}

void AddShapes(const CaptureHoldings& a, const CaptureHoldings& b, MainCause& cause) {
  // Returns the shape of the largest result at the line. If the cause has an operator, only results of this operator
  // count.
  const auto shape_of = [&](const CaptureHoldings& held, const std::string& line) {
    TensorShape largest;
    for (auto place = held.facts.results.lower_bound({line, ""});
         place != held.facts.results.end() && place->first.first == line; ++place) {
      const bool is_wanted = cause.operator_name.empty() || place->first.second == cause.operator_name;
      const TensorShape& shape = place->second.shape;
      if (is_wanted && shape.elements() > largest.elements()) largest = shape;
    }
    return largest;
  };
  // If A and B differ in the number of blocks, their largest tensors may be different tensors of the program.
  if (cause.line.empty() || cause.line_a.empty() || cause.more_blocks != 0) return;
  const TensorShape in_a = shape_of(a, cause.line_a), in_b = shape_of(b, cause.line);
  if (in_a == in_b || in_a.sizes.empty() || in_b.sizes.empty()) return;
  cause.shape_a = ToString(in_a);
  cause.shape_b = ToString(in_b);
}

LineChanges FindLineChanges(const CaptureHoldings& a, const CaptureHoldings& b, const MatchedNames& names) {
  return {FindOperatorChange(a, b, names), FindFirstShape(a, b, names)};
}

void AddLineChange(const LineChanges& changes, ComparedDevice& device) {
  // The input of a module inside of a model follows from an earlier shape.
  const bool is_of_part = std::ranges::all_of(device.causes, [](const ProgramChange& change) {
    return change.kind == Kind::kInputs && change.is_inside_of_model();
  });
  const bool has_only_calls =
      std::ranges::all_of(device.causes, [](const ProgramChange& change) { return change.kind == Kind::kLiveCalls; });
  if (!device.has_both() || !(is_of_part || has_only_calls) || device.is_same()) return;
  if (changes.operators && has_only_calls) {
    device.causes.insert(device.causes.begin(), *changes.operators);
    return;
  }
  if (!is_of_part) return;
  if (!changes.shape) return;
  const bool is_against = device.difference() > 0 ? changes.shape->factor < 1 : changes.shape->factor > 1;
  if (!is_against) device.causes.insert(device.causes.begin(), *changes.shape);
}

}  // namespace memoir
