#include "tools/view/compare/change_text.h"

#include <cstddef>
#include <ranges>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

constexpr std::size_t kName = 90;

bool IsAboutOne(double factor) {
  constexpr double kAlike = 0.05;
  return factor > 1 - kAlike && factor < 1 + kAlike;
}

std::string FactorText(const ProgramChange& change) {
  const std::string verb = change.dimension.empty() ? "are" : "is";
  if (change.factor == 0 || IsAboutOne(change.factor)) return verb + " of another shape";
  return change.factor > 1 ? fmt::format("{} {:.1f} times as large", verb, change.factor)
                           : fmt::format("{} smaller by a factor of {:.1f}", verb, 1 / change.factor);
}

// Returns "where train.py:51 calls Generator" or "in target".
std::string PlaceOfCall(const ProgramChange& change, const std::string& module) {
  if (!change.source.known()) return "in " + module;
  return fmt::format("where {} calls {}", ShownPlace(change.source, kName), module);
}

// Returns "1 call" or "4 calls".
std::string FormatCallsOf(const std::string& count) { return count + (count == "1" ? " call" : " calls"); }

// "2 tensors for each parameter"
std::string FormatStatesOf(const std::string& count) {
  return count + (count == "1" ? " tensor" : " tensors") + " for each parameter";
}

// "shape", or "data type" for two tensors such as "float32[8]" and "bfloat16[8]".
std::string_view WhatDiffers(const std::string& a, const std::string& b) {
  const std::size_t sizes_a = a.find('['), sizes_b = b.find('[');
  const bool has_same_sizes =
      sizes_a != std::string::npos && sizes_b != std::string::npos && a.substr(sizes_a) == b.substr(sizes_b);
  return has_same_sizes ? "data type" : "shape";
}

std::string OfWhere(const std::string& where) { return where.empty() ? "" : " of " + where; }

}  // namespace

std::string ChangeText(const ProgramChange& change) {
  using Kind = ProgramChange::Kind;
  const std::string where = Shortened(Escaped(change.where), kName), a = Escaped(change.a), b = Escaped(change.b);
  const bool is_one = change.count == 1;
  switch (change.kind) {
    case Kind::kNewModules:
      return fmt::format("{} {}", is_one ? "a new module," : "new modules,", where);
    case Kind::kGoneModules:
      return fmt::format("{} {} {}", is_one ? "the module" : "the modules", where, is_one ? "is gone" : "are gone");
    case Kind::kLayers:
      return fmt::format("{} has {} modules, had {}", where, b, a);
    case Kind::kNewParameters:
      return fmt::format("{} {}", is_one ? "a new parameter," : "new parameters,", where);
    case Kind::kGoneParameters:
      return fmt::format("{} {} {}", is_one ? "the parameter" : "the parameters", where,
                         is_one ? "is gone" : "are gone");
    case Kind::kShared:
      return fmt::format("{} are one tensor now", where);
    case Kind::kUnshared:
      return fmt::format("{} are separate tensors now, were one", where);
    case Kind::kSizes:
      if (change.sizes.size() > 1 && !IsAboutOne(change.factor))
        return fmt::format("sizes {} in {} ({})", FactorText(change),
                           FormatCounted(change.count, "parameter", "parameters"), where);
      return fmt::format("a size of {} is {} now, in {} ({})", a, b,
                         FormatCounted(change.count, "parameter", "parameters"), where);
    case Kind::kParameterType:
      return fmt::format("parameters are {}, were {}", b, a);
    case Kind::kResultType:
      return fmt::format("{} compute in {}, did in {}", FormatCounted(change.count, "line", "lines"), b, a);
    case Kind::kTrained:
    case Kind::kFrozen:
      return fmt::format("{} {} {} trained ({})", FormatCount(change.count),
                         change.kind == Kind::kTrained ? "more" : "fewer", is_one ? "parameter is" : "parameters are",
                         where);
    case Kind::kInputs:
      return fmt::format("the {} of {} {} ({}, now {})", change.dimension.empty() ? "inputs" : change.dimension, where,
                         FactorText(change), a, b);
    case Kind::kOptimizer:
      return fmt::format("the optimizer is {}, was {}", b, a);
    case Kind::kOptimizerState:
      return fmt::format("{} keeps {} now, kept {}", where, FormatStatesOf(b), a);
    case Kind::kCheckpointed:
      return fmt::format("{} {} checkpointed now", where, is_one ? "is" : "are");
    case Kind::kKept:
      return fmt::format("{} {} not checkpointed any more", where, is_one ? "is" : "are");
    case Kind::kAutogradOn:
    case Kind::kAutogradOff: {
      const bool is_on = change.kind == Kind::kAutogradOn;
      return fmt::format("autograd is {} now {}, was {}", is_on ? "on" : "off", PlaceOfCall(change, where),
                         is_on ? "off" : "on");
    }
    case Kind::kNewCall:
      return fmt::format("{} calls {} now, too", ShownPlace(change.source, kName), where);
    case Kind::kGoneCall:
      return fmt::format("{} does not call {} any more", ShownPlace(change.source, kName), where);
    case Kind::kCallsInStep:
      return fmt::format("each step has {} of {} now, had {}", FormatCallsOf(b), where, a);
    case Kind::kCallsInCall:
      return fmt::format("each call of the model has {} of {} now, had {}", FormatCallsOf(b), where, a);
    case Kind::kGradients:
      return fmt::format("gradients{} are {} now, were {}", OfWhere(where), b, a);
    case Kind::kLiveCalls:
      return fmt::format("{} of {} {} live tensors at once, {} had before", FormatCallsOf(b), where,
                         b == "1" ? "has" : "have", a);
    case Kind::kEarlierSteps:
      return fmt::format("{} kept from earlier steps", FormatSignedBytes(change.bytes));
    case Kind::kOperator:
      return fmt::format("{} runs {} now, ran {}", ShownPlace(change.source, kName), b, a);
    case Kind::kFirstShape:
      return fmt::format("the first line whose tensors have another {} is {} {}: at most {}, was {}",
                         WhatDiffers(a, b), ShownPlace(change.source, kName), where, b, a);
  }
  return "";
}

std::string ChangeTextOfRank(const ProgramChange& change, const std::string& other) {
  using Kind = ProgramChange::Kind;
  const std::string where = Shortened(Escaped(change.where), kName), a = Escaped(change.a), b = Escaped(change.b);
  const std::string are = change.count == 1 ? "is" : "are";
  switch (change.kind) {
    case Kind::kNewModules:
    case Kind::kNewParameters:
      return fmt::format("has {}, which {} lacks", where, other);
    case Kind::kGoneModules:
    case Kind::kGoneParameters:
      return fmt::format("lacks {}, which {} has", where, other);
    case Kind::kLayers:
      return fmt::format("{} has {} modules; {} has {}", where, b, other, a);
    case Kind::kShared:
      return fmt::format("{} are one tensor; on {} they are separate", where, other);
    case Kind::kUnshared:
      return fmt::format("{} are separate tensors; on {} they are one", where, other);
    case Kind::kSizes:
      if (change.sizes.size() > 1 && !IsAboutOne(change.factor)) return ChangeText(change);
      return fmt::format("a size is {} in {} ({}); on {} it is {}", b,
                         FormatCounted(change.count, "parameter", "parameters"), where, other, a);
    case Kind::kParameterType:
      return fmt::format("parameters are {}; on {} they are {}", b, other, a);
    case Kind::kResultType:
      return fmt::format("{} compute in {}; on {} they compute in {}", FormatCounted(change.count, "line", "lines"), b,
                         other, a);
    case Kind::kTrained:
    case Kind::kFrozen:
      return fmt::format("{} {} {} trained than on {} ({})", FormatCount(change.count),
                         change.kind == Kind::kTrained ? "more" : "fewer",
                         change.count == 1 ? "parameter is" : "parameters are", other, where);
    case Kind::kInputs:
      return fmt::format("the {} of {} {} ({} on {}, here {})", change.dimension.empty() ? "inputs" : change.dimension,
                         where, FactorText(change), a, other, b);
    case Kind::kOptimizer:
      return fmt::format("the optimizer is {}; on {} it is {}", b, other, a);
    case Kind::kOptimizerState:
      return fmt::format("{} keeps {}; on {} it keeps {}", where, FormatStatesOf(b), other, a);
    case Kind::kCheckpointed:
      return fmt::format("{} {} checkpointed, but not on {}", where, are, other);
    case Kind::kKept:
      return fmt::format("{} {} not checkpointed, but on {}", where, are, other);
    case Kind::kAutogradOn:
    case Kind::kAutogradOff: {
      const bool is_on = change.kind == Kind::kAutogradOn;
      return fmt::format("autograd is {} {}; on {} it is {}", is_on ? "on" : "off", PlaceOfCall(change, where), other,
                         is_on ? "off" : "on");
    }
    case Kind::kNewCall:
      return fmt::format("{} calls {}, but not on {}", ShownPlace(change.source, kName), where, other);
    case Kind::kGoneCall:
      return fmt::format("{} does not call {}, but on {} it does", ShownPlace(change.source, kName), where, other);
    case Kind::kCallsInStep:
      return fmt::format("each step has {} of {}; on {} it has {}", FormatCallsOf(b), where, other, a);
    case Kind::kCallsInCall:
      return fmt::format("each call of the model has {} of {}; on {} it has {}", FormatCallsOf(b), where, other, a);
    case Kind::kGradients:
      return fmt::format("gradients{} are {}; on {} they are {}", OfWhere(where), b, other, a);
    case Kind::kLiveCalls:
      return fmt::format("{} of {} {} live tensors at once; on {} {} have", FormatCallsOf(b), where,
                         b == "1" ? "has" : "have", other, a);
    case Kind::kEarlierSteps:
      return fmt::format("{} kept from earlier steps, compared with {}", FormatSignedBytes(change.bytes), other);
    case Kind::kOperator:
      return fmt::format("{} runs {}; on {} it runs {}", ShownPlace(change.source, kName), b, other, a);
    case Kind::kFirstShape:
      return fmt::format("the first line whose tensors have another {} is {} {}: at most {}; on {} {}",
                         WhatDiffers(a, b), ShownPlace(change.source, kName), where, b, other, a);
  }
  return "";
}

std::vector<std::string> NamedCauses(const ComparedDevice& device) {
  constexpr std::size_t kNamed = 2;
  std::vector<std::string> named;
  for (const ProgramChange& change : device.causes | std::views::take(kNamed)) named.push_back(ChangeText(change));
  return named;
}

std::string CausesText(const ComparedDevice& device) {
  const std::vector<std::string> named = NamedCauses(device);
  const std::string text = fmt::format("{}", fmt::join(named, "; "));
  if (device.causes.size() == named.size()) return text;
  return text + " and " + FormatCounted(device.causes.size() - named.size(), "more change", "more changes");
}

std::string BelowPeakText(const ComparedDevice& device) {
  if (device.below.empty()) return "";
  const LineBelowPeak& most = device.below.front();
  return fmt::format("{} has at most {} ({}, {})", ShownPlace(most.source, kName), FormatBytes(most.b),
                     FormatSignedBytes(most.difference()), Escaped(most.category));
}

}  // namespace memoir
