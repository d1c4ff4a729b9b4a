#include "tools/cli/check/fail_condition.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "fmt/format.h"
#include "tools/cli/terminal/nearest.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

enum class Unit { kBytes, kCount, kBytesOrShare };

struct Figure {
  const char* name;
  Unit unit;
  const char* what;
};
constexpr std::array kFigures = {
    Figure{"peak_allocated", Unit::kBytes, "most memory that torch had allocated on a GPU"},
    Figure{"peak_active", Unit::kBytes, "most active memory"},
    Figure{"peak_reserved", Unit::kBytes, "most memory that torch had reserved"},
    Figure{"num_alloc_retries", Unit::kCount, "times that torch freed its cache and asked again"},
    Figure{"num_ooms", Unit::kCount, "out-of-memory errors, torch's and others'"},
    Figure{"unusable", Unit::kBytesOrShare,
           "most reserved memory that no request could use (%: of the reserved memory)"},
    Figure{"outside_torch", Unit::kBytes, "most non-PyTorch memory on a GPU"},
    Figure{"least_free", Unit::kBytes, "least free memory of a GPU"},
    Figure{"unexplained", Unit::kBytesOrShare,
           "bytes without an owner in memory accounting, positive or negative (%: of the used memory)"},
    Figure{"module", Unit::kBytes, "as module:PATTERN, most memory that blocks of these modules had"},
    Figure{"category", Unit::kBytes, "as category:NAME, bytes of this category at the peak"}};

// Some figures have an argument: "module:layers.*".
bool IsOfSomething(std::string_view figure) { return figure == "module" || figure == "category"; }

const Figure* FigureNamed(std::string_view name) {
  const auto found = std::ranges::find_if(kFigures, [&](const Figure& figure) { return figure.name == name; });
  return found == kFigures.end() ? nullptr : &*found;
}

absl::Status Wrong(const std::string& text, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("--fail-if ", text, ": ", why));
}

std::vector<std::string> FigureNames() {
  std::vector<std::string> names;
  for (const Figure& figure : kFigures) names.emplace_back(figure.name);
  return names;
}

std::string ListText(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

// Returns the bytes of a unit; 0 if the unit is unknown. Ignores case, because "mb" and "MB" both mean megabytes here.
double FactorOf(std::string_view unit) {
  static const std::map<std::string, double> kUnits = {
      {"b", 1},        {"byte", 1}, {"bytes", 1}, {"kib", 0x1p10}, {"mib", 0x1p20}, {"gib", 0x1p30},
      {"tib", 0x1p40}, {"kb", 1e3}, {"mb", 1e6},  {"gb", 1e9},     {"tb", 1e12}};
  const auto found = kUnits.find(absl::AsciiStrToLower(std::string(unit)));
  return found == kUnits.end() ? 0 : found->second;
}

// Returns `text` without spaces at its begin and end. Quoted conditions often contain spaces around the comparison and
// before a unit.
std::string WithoutSpaces(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  return std::string(text.substr(begin, text.find_last_not_of(" \t") + 1 - begin));
}

// Parses the value after the comparison. Returns a description of its mistake; "" if the value is valid.
std::string ParseValue(std::string_view value, Unit unit, FailCondition& condition) {
  condition.relative = value.starts_with('+');
  if (condition.relative) value.remove_prefix(1);
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), condition.value);
  if (error != std::errc() || !std::isfinite(condition.value) || condition.value < 0)
    return absl::StrCat("expected a number instead of '", std::string(value), "'");
  const std::string suffix =
      WithoutSpaces(std::string_view(end, static_cast<std::size_t>(value.data() + value.size() - end)));
  condition.percent = suffix == "%";
  if (unit == Unit::kCount && !(condition.percent && condition.relative))
    return suffix.empty() ? "" : "a count has no unit";
  if (condition.percent && condition.relative) return "";
  if (condition.percent)
    return unit == Unit::kBytesOrShare ? "" : "there is no whole to take % of; give bytes, or +N% with --baseline";
  const double factor = FactorOf(suffix);
  const char* const units =
      unit == Unit::kBytesOrShare ? "expected a unit: 64MiB, 1.5 GB, 2%" : "expected a unit: 64MiB, 1.5 GB";
  if (factor == 0) return suffix.empty() ? units : absl::StrCat("'", suffix, "' is no unit; ", units);
  condition.value *= factor;
  return "";
}

bool Compare(double figure, const std::string& compare, double value) {
  if (compare == ">") return figure > value;
  if (compare == ">=") return figure >= value;
  if (compare == "<") return figure < value;
  if (compare == "<=") return figure <= value;
  return figure == value;
}

std::string ValueText(double value, const FailCondition& condition) {
  if (condition.percent && !condition.relative) return fmt::format("{:.2f}%", value);
  const auto whole = static_cast<std::uint64_t>(value);
  return FigureNamed(condition.figure)->unit == Unit::kCount ? FormatCount(whole) : FormatBytes(whole);
}

// Returns true if missing records cannot change `holds`. Missing records could only make the figure worse.
bool IsSure(const FailCondition& condition, const CheckedFigure& figure, bool holds) {
  if (figure.incomplete.empty()) return true;
  if (condition.compare == "==") return false;
  const bool worse_holds = condition.compare.starts_with(figure.least ? '<' : '>');
  return worse_holds == holds;
}

}  // namespace

absl::StatusOr<FailCondition> ParseFailCondition(const std::string& text) {
  const std::size_t at = text.find_first_of("<>=");
  if (at == std::string::npos || at == 0) return Wrong(text, "expected FIGURE>VALUE, such as unexplained>1GiB");
  FailCondition condition;
  condition.text = text;
  condition.figure = WithoutSpaces(text.substr(0, at));
  if (const std::size_t colon = condition.figure.find(':'); colon != std::string::npos) {
    condition.of = condition.figure.substr(colon + 1);
    condition.figure.resize(colon);
  }
  constexpr std::string_view kBytes = "_bytes";  // suffix of the figure's key in --json
  if (condition.figure.ends_with(kBytes)) condition.figure.resize(condition.figure.size() - kBytes.size());
  const std::size_t end = std::min(text.find_first_not_of("<>=", at), text.size());
  condition.compare = text.substr(at, end - at);
  const Figure* figure = FigureNamed(condition.figure);
  if (figure == nullptr) {
    const std::vector<std::string> names = FigureNames();
    return Wrong(text, absl::StrCat("'", condition.figure, "' is no figure; there are: ", ListText(names),
                                    DidYouMean(condition.figure, names)));
  }
  if (IsOfSomething(condition.figure) != !condition.of.empty())
    return Wrong(text, condition.of.empty()
                           ? "expected " + condition.figure + ":NAME"
                           : "'" + condition.figure + "' takes no name; leave ':" + condition.of + "' out");
  constexpr std::array kCompares = {">", ">=", "<", "<=", "=="};
  if (std::ranges::find(kCompares, condition.compare) == kCompares.end())
    return Wrong(text, "'" + condition.compare + "' is no comparison; there are: > >= < <= ==");
  const std::string value = WithoutSpaces(text.substr(end));
  const std::string wrong = ParseValue(value, figure->unit, condition);
  if (!wrong.empty()) return Wrong(text, wrong);
  return condition;
}

std::string FiguresOfConditions() {
  std::string text;
  for (const Figure& figure : kFigures) text += absl::StrCat(text.empty() ? "" : "; ", figure.name, ", ", figure.what);
  return text;
}

ConditionResult JudgeCondition(const FailCondition& condition, const FigureSources& figures,
                               const FigureSources* baseline) {
  const bool share = condition.percent && !condition.relative;
  const CheckedFigure figure = FigureOf(condition.figure, condition.of, share, figures);
  if (!figure.value) return {std::nullopt, false, figure.unknown, ""};
  if (!condition.relative) {
    const bool holds = Compare(*figure.value, condition.compare, condition.value);
    const bool sure = IsSure(condition, figure, holds);
    return {holds, sure, sure ? "" : figure.incomplete, ValueText(*figure.value, condition)};
  }
  const CheckedFigure before = FigureOf(condition.figure, condition.of, share, *baseline);
  if (!before.value) return {std::nullopt, false, "of the baseline: " + before.unknown, ""};
  const double allowed = *before.value + (condition.percent ? *before.value * condition.value / 100 : condition.value);
  const bool holds = Compare(*figure.value, condition.compare, allowed);
  std::string why = figure.incomplete;
  if (!before.incomplete.empty()) why = "of the baseline: " + before.incomplete;
  const std::string change =
      *before.value == 0 ? "" : fmt::format(" ({:+.2f}%)", 100 * (*figure.value / *before.value - 1));
  return {holds, why.empty(), why,
          ValueText(*figure.value, condition) + ", and was " + ValueText(*before.value, condition) + change};
}

}  // namespace memoir
