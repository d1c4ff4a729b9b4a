#include "tools/analyze/pass/instant_choice.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace memoir {
namespace {

std::optional<std::uint64_t> ParseTime(absl::string_view text) {
  struct Unit {
    absl::string_view name;
    double ns;
  };
  constexpr Unit kUnits[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  double scale = 1e9;
  for (const Unit& unit : kUnits) {
    if (!absl::ConsumeSuffix(&text, unit.name)) continue;
    scale = unit.ns;
    break;
  }
  double value = 0;
  if (!absl::SimpleAtod(text, &value) || !(value >= 0) || value * scale > 9e18) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(value * scale));
}

}  // namespace

std::optional<InstantChoice> ParseInstantChoice(const std::string& text) {
  InstantChoice at;
  if (text == "peak") return at;
  if (text == "end") {
    at.kind = InstantChoice::Kind::kEnd;
    return at;
  }
  if (text == "oom") {
    at.kind = InstantChoice::Kind::kOutOfMemory;
    return at;
  }
  if (text.rfind("mark:", 0) == 0 && text.size() > 5) {
    at.kind = InstantChoice::Kind::kMark;
    at.mark = text.substr(5);
    return at;
  }
  const std::optional<std::uint64_t> ns = ParseTime(text);
  if (!ns) return std::nullopt;
  at.kind = InstantChoice::Kind::kTime;
  at.ns = *ns;
  return at;
}

}  // namespace memoir
