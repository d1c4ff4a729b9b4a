#include "tools/view/fit/fit_curve_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fmt/format.h"
#include "tools/view/fit/fit_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

constexpr std::size_t kBytesWidth = 22;  // such as "1023.9 MiB to 1.2 GiB"
constexpr std::size_t kWordsWidth = 14;

std::string Words(const FitPoint& point) {
  switch (point.verdict) {
    case FitVerdict::kFits:
      return point.barely ? "barely" : "";
    case FitVerdict::kDoesNotFit:
      return "does not fit";
    case FitVerdict::kWentOn:
      return "ran out";
    case FitVerdict::kDepends:
      return "depends";
    case FitVerdict::kFailed:
      return "failed";
    case FitVerdict::kUnused:
      return "no GPU memory";
    case FitVerdict::kInterrupted:
      return "interrupted";
  }
  return "";
}

std::string NeedWords(const FitPoint& point) {
  if (!point.need) return "?";
  if (point.need->is_point()) return FormatBytes(point.need->high);
  return FormatBytes(point.need->low) + " to " + FormatBytes(point.need->high);
}

// Draws a bar that is `eighths` eighths of a column long, padded to `columns` columns. The column `mark` shows the
// card's memory in place of the bar.
std::string Bar(std::size_t eighths, std::size_t columns, std::size_t mark) {
  constexpr std::array<std::string_view, 9> kParts = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
  std::string text;
  for (std::size_t column = 0; column < columns; ++column) {
    const std::size_t filled = eighths <= column * 8 ? 0 : std::min<std::size_t>(eighths - column * 8, 8);
    text += column == mark ? "│" : kParts[filled];
  }
  return text;
}

std::string ListText(const std::vector<std::uint64_t>& values) {
  std::string text;
  for (const std::uint64_t value : values) text += (text.empty() ? "" : ", ") + FormatCount(value);
  return text;
}

}  // namespace

std::string CurveAnswer(const FitCurve& curve) {
  const std::string variable = Escaped(curve.variable);
  if (!curve.largest) {
    if (!curve.next_that_fails) return fmt::format("no {} gave an answer", variable);
    return fmt::format("no {} that was tried fits; the smallest was {}{}", variable,
                       FormatCount(curve.points.front().value), TorchWords(curve.torch));
  }
  std::string text = fmt::format("the largest {} that fits is {}", variable, FormatCount(*curve.largest));
  const auto at = std::ranges::find(curve.points, *curve.largest, &FitPoint::value);
  if (at != curve.points.end() && at->need && at->need->high <= curve.memory)
    text += fmt::format("{} ({}{} to spare)", at->barely ? ", barely" : "", at->need->is_point() ? "" : "at least ",
                        FormatBytes(curve.memory - at->need->high));
  if (curve.next_that_fails) {
    text += fmt::format("; {} does not", FormatCount(*curve.next_that_fails));
  } else if (*curve.largest + curve.step > curve.last) {
    text += ", the end of the range";
  } else {
    text += "; the larger ones that were tried failed for other reasons";
  }
  if (!curve.contradictions.empty()) {
    text +=
        fmt::format(". NOT MONOTONIC: {} did not fit although smaller; values that were not tried may not fit either",
                    ListText(curve.contradictions));
  }
  return text + TorchWords(curve.torch);
}

std::string RenderFitCurve(const FitCurve& curve, const std::string& what, const Terminal& terminal) {
  std::uint64_t most = curve.memory;
  std::size_t value_width = DisplayWidth(Escaped(curve.variable));
  for (const FitPoint& point : curve.points) {
    if (point.need) most = std::max(most, point.need->high);
    value_width = std::max(value_width, FormatCount(point.value).size());
  }
  const std::size_t taken = 2 + value_width + 2 + kBytesWidth + 2 + kWordsWidth;
  const std::size_t columns = std::clamp<std::size_t>(terminal.width > taken ? terminal.width - taken : 0, 10, 60);
  // If nothing needs more than the card has, the mark is in the last column.
  const double scale = static_cast<double>((columns - 1) * 8) / static_cast<double>(most);
  const auto mark = static_cast<std::size_t>(static_cast<double>(curve.memory) * scale / 8);
  std::string text = Wrapped(fmt::format("{} on a SIMULATED {} ({}, {}): {}.", Escaped(what), Escaped(curve.name),
                                         Escaped(curve.key), FormatBytes(curve.memory), CurveAnswer(curve)),
                             terminal.width, 0) +
                     "\n";
  if (curve.at_largest) text += RenderDoubts(*curve.at_largest, terminal);
  text += Painted(terminal, Color::kDim,
                  fmt::format("  {}  {}", PaddedLeft(Escaped(curve.variable), value_width),
                              PaddedLeft("device peak", kBytesWidth))) +
          "\n";
  for (const FitPoint& point : curve.points) {
    const double eighths = point.need ? static_cast<double>(point.need->high) * scale : 0;
    std::string line = fmt::format("  {}  {}  {} {}", PaddedLeft(FormatCount(point.value), value_width),
                                   PaddedLeft(NeedWords(point), kBytesWidth),
                                   Bar(static_cast<std::size_t>(std::llround(eighths)), columns, mark), Words(point));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  text += Wrapped(
              "│ marks the card's memory. Peaks of values that do not fit are from runs without its limit; ?: not "
              "known. Only these values were tried.",
              terminal.width, 0) +
          "\n";
  return text + RenderFitNotes(terminal);
}

}  // namespace memoir
