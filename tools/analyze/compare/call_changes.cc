#include "tools/analyze/compare/call_changes.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/analyze/compare/match/line_match.h"
#include "tools/analyze/compare/short_list.h"

namespace memoir {
namespace {

using Kind = ProgramChange::Kind;

std::vector<const Caller*> CallersOf(const ModelCalls& calls) {
  std::vector<const Caller*> callers;
  for (const auto& [name, caller] : calls.callers) callers.push_back(&caller);
  return callers;
}

// Gives all callers of a model the same mark (SeenLine::marks), because all of them call the model.
std::vector<SeenLine> LinesOf(const std::vector<const Caller*>& callers) {
  std::vector<SeenLine> lines;
  for (const Caller* caller : callers) lines.push_back({caller->line, {OperatorKeyOf("call", "")}});
  return lines;
}

ProgramChange ChangeAt(Kind kind, const std::string& model, const SourceLine& line) {
  return {.kind = kind, .where = model, .a = "", .b = PlaceOf(line), .count = 1, .source = line};
}

// Returns whether autograd is on in all calls of B and in no call of A, or the reverse. Otherwise nullopt.
std::optional<Kind> AutogradChange(const AutogradCalls& a, const AutogradCalls& b) {
  if (a.with_autograd == 0 && b.without_autograd == 0) return Kind::kAutogradOn;
  if (a.without_autograd == 0 && b.with_autograd == 0) return Kind::kAutogradOff;
  return std::nullopt;
}

// Returns the most frequent number of calls in a step. 0 if fewer than three steps had it.
std::size_t UsualCalls(const ModelCalls& calls) {
  constexpr std::size_t kFewest = 3;
  const auto usual =
      std::ranges::max_element(calls.calls_in_step, {}, &std::map<std::size_t, std::size_t>::value_type::second);
  return usual == calls.calls_in_step.end() || usual->second < kFewest ? 0 : usual->first;
}

// Compares the calls of one model.
std::vector<ProgramChange> ChangesOf(const std::string& model, const ModelCalls& calls_a, const ModelCalls& calls_b) {
  const std::vector<const Caller*> callers_a = CallersOf(calls_a), callers_b = CallersOf(calls_b);
  std::vector<ProgramChange> changes;
  std::vector<const Caller*> gone = callers_a, added = callers_b;
  for (const auto& [of_a, of_b] : MatchLines(LinesOf(callers_a), LinesOf(callers_b))) {
    const Caller &caller_a = *callers_a[of_a], &caller_b = *callers_b[of_b];
    std::erase(gone, &caller_a);
    std::erase(added, &caller_b);
    if (const std::optional<Kind> kind = AutogradChange(caller_a.calls, caller_b.calls))
      changes.push_back(ChangeAt(*kind, model, caller_b.line));
  }
  // If both A and B have a line without a match, these lines may be the same call in a renamed function, so they are
  // not reported as new or gone.
  if (gone.size() == 1 && added.size() == 1) {
    if (const std::optional<Kind> kind = AutogradChange(gone[0]->calls, added[0]->calls))
      changes.push_back(ChangeAt(*kind, model, added[0]->line));
  }
  if (gone.empty() != added.empty() && !callers_a.empty() && !callers_b.empty()) {
    for (const Caller* caller : added) changes.push_back(ChangeAt(Kind::kNewCall, model, caller->line));
    for (const Caller* caller : gone) changes.push_back(ChangeAt(Kind::kGoneCall, model, caller->line));
  }
  const std::size_t usual_a = UsualCalls(calls_a), usual_b = UsualCalls(calls_b);
  if (changes.empty() && usual_a != usual_b && usual_a > 0 && usual_b > 0)
    changes.push_back(
        {.kind = Kind::kCallsInStep, .where = model, .a = absl::StrCat(usual_a), .b = absl::StrCat(usual_b)});
  return changes;
}

using Uses = std::map<CommonModule, const ModuleUse*>;

// Returns the number of calls of a module for each call of its outermost module, as text. Empty if the number is not
// whole.
std::string CallsInCall(const Uses& uses, const CommonModule& module) {
  const auto outermost = uses.find({module.root, ""});
  if (outermost == uses.end() || outermost->second->calls.all() == 0) return "";
  const std::size_t calls = uses.at(module)->calls.all(), of_model = outermost->second->calls.all();
  return calls % of_model == 0 ? absl::StrCat(calls / of_model) : "";
}

// Compares the modules inside of models that both A and B have. If a module differs, leaves out the modules inside of
// that module.
std::vector<ProgramChange> ChangesInside(const Uses& uses_a, const Uses& uses_b) {
  std::vector<ProgramChange> changes;
  std::vector<CommonModule> added;
  for (const auto& [module, use_b] : uses_b) {
    const auto same = uses_a.find(module);
    const bool is_inside =
        std::ranges::any_of(added, [&](const CommonModule& other) { return module.IsInside(other); });
    if (module.path.empty() || same == uses_a.end() || is_inside) continue;
    const std::string calls_a = CallsInCall(uses_a, module), calls_b = CallsInCall(uses_b, module);
    ProgramChange change{.where = module.place(), .count = 1};
    if (const std::optional<Kind> kind = AutogradChange(same->second->calls, use_b->calls)) {
      change.kind = *kind;
    } else if (calls_a != calls_b && !calls_a.empty() && !calls_b.empty()) {
      change.kind = Kind::kCallsInCall;
      change.a = calls_a;
      change.b = calls_b;
    } else {
      continue;
    }
    added.push_back(module);
    changes.push_back(std::move(change));
  }
  return changes;
}

std::string WordsOf(const GradientUse& use) {
  if (use.set_to_zero) return "set to zero";
  if (use.freed_after_forward) return "freed after forward";
  return use.freed_before_forward ? "freed before forward" : "not freed";
}

// Adds `change` with the names of those `modules` (modules with sparse gradients) that `others` lacks.
void AddSparse(const std::set<CommonModule>& modules, const std::set<CommonModule>& others, ProgramChange change,
               std::vector<ProgramChange>& changes) {
  std::set<std::string> places;
  for (const CommonModule& module : modules) {
    if (!others.contains(module)) places.insert(module.place());
  }
  if (places.empty()) return;
  change.where = ShortList(places);
  changes.push_back(std::move(change));
}

}  // namespace

std::vector<ProgramChange> FindCallChanges(const CaptureHoldings& a, const CaptureHoldings& b,
                                           const MatchedNames& names) {
  std::vector<ProgramChange> changes;
  for (const auto& [model_a, calls_a] : a.facts.calls.models) {
    for (const auto& [model_b, calls_b] : b.facts.calls.models) {
      if (!names.AreSameModel(model_a, model_b)) continue;
      for (ProgramChange& change : ChangesOf(model_b, calls_a, calls_b)) changes.push_back(std::move(change));
    }
  }
  if (!changes.empty()) return changes;  // changes inside of a model follow from changes of its calls
  Uses uses_a, uses_b;
  for (const auto& [name, use] : a.facts.calls.modules) uses_a[names.modules().CommonNameInA(use.module)] = &use;
  for (const auto& [name, use] : b.facts.calls.modules) uses_b[names.modules().CommonNameInB(use.module)] = &use;
  return ChangesInside(uses_a, uses_b);
}

std::vector<ProgramChange> FindGradientChanges(const CallFacts& a, const CallFacts& b, const MatchedNames& names) {
  std::vector<ProgramChange> changes;
  if (a.has_backward_with_autograd != b.has_backward_with_autograd) {
    const Kind kind = b.has_backward_with_autograd ? Kind::kAutogradOn : Kind::kAutogradOff;
    changes.push_back({.kind = kind, .where = "backward"});
  }
  std::set<CommonModule> sparse_a, sparse_b;
  for (const auto& [name, module] : a.sparse) sparse_a.insert(names.modules().CommonNameInA(module));
  for (const auto& [name, module] : b.sparse) sparse_b.insert(names.modules().CommonNameInB(module));
  AddSparse(sparse_b, sparse_a, {.kind = Kind::kGradients, .a = "dense", .b = "sparse"}, changes);
  AddSparse(sparse_a, sparse_b, {.kind = Kind::kGradients, .a = "sparse", .b = "dense"}, changes);
  constexpr std::size_t kFewestSteps = 3;  // fewer steps do not show the treatment of gradients between steps
  const std::string in_a = WordsOf(a.gradients), in_b = WordsOf(b.gradients);
  if (in_a != in_b && a.steps >= kFewestSteps && b.steps >= kFewestSteps)
    changes.push_back({.kind = Kind::kGradients, .a = in_a, .b = in_b});
  return changes;
}

}  // namespace memoir
