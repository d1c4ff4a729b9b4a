#include "tools/view/fit_text.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "tools/view/table.h"
#include "tools/view/terminal_text.h"
#include "tools/view/units.h"

namespace memoir {
namespace {

constexpr std::size_t kTop = 5;

std::string Paragraph(const std::string& text, const Terminal& terminal) {
  return Wrapped(text, terminal.width, 0) + "\n";
}

std::string NeedWords(const FitInterval& need) {
  if (need.is_point()) return FormatBytes(need.high);
  return fmt::format("{} to {}", FormatBytes(need.low), FormatBytes(need.high));
}

// What is left of the card where all goes on as simulated; negative: what is lacking.
std::int64_t Headroom(const FitCard& card, const FitInterval& need) {
  return static_cast<std::int64_t>(card.memory) - static_cast<std::int64_t>(need.high);
}

bool IsTight(const FitCard& card) {
  const auto need = NeedOf(card);
  if (VerdictOf(card) != FitVerdict::kFits || !need) return false;
  return Headroom(card, *need) < static_cast<std::int64_t>(kTablesAreExactTo);
}

const FitRun& DecidingRun(const FitCard& card) {
  return card.high && VerdictOf(card.low.run) == FitVerdict::kFits ? card.high->run : card.low.run;
}

std::string Ended(const FitRun& run) {
  if (run.signal != 0) return fmt::format("signal {} ended it", run.signal);
  return fmt::format("exit code {}", run.exit_code);
}

// "in aten::linear, module blocks.3, which asked for 512 MiB with 13.9 GiB in use"; "" where it did not run out.
std::string WhereItRanOut(const FitRun& run) {
  const auto deciding = DecidingDeviceOf(run);
  const auto& recorded = run.recording ? run.recording->out_of_memory : std::nullopt;
  std::uint64_t asked = deciding ? deciding->device.refused : 0;
  std::string place;
  if (recorded) {
    place = recorded->operator_name.empty() ? "outside of any operator" : "in " + Escaped(recorded->operator_name);
    if (!recorded->module.empty()) place += ", module " + Escaped(recorded->module);
    place += ",";
    asked = recorded->asked;
  }
  if (asked == 0) return "";
  std::string text = fmt::format("{}{}asking for {}", place, place.empty() ? "" : " ", FormatBytes(asked));
  if (deciding && deciding->device.refused > 0)
    text += fmt::format(" with {} in use", FormatBytes(deciding->device.refused_used));
  return text;
}

std::string LackReason(const FitCard& card) {
  const auto need = NeedOf(card);
  if (need) return fmt::format("takes {}, has {}", NeedWords(*need), FormatBytes(card.memory));
  const FitTry& attempt = card.high && VerdictOf(card.low.run) == FitVerdict::kFits ? *card.high : card.low;
  const std::string has = "has " + FormatBytes(card.memory) + "; ";
  if (!attempt.unlimited) return has + "what it would take was not tried";
  if (VerdictOf(*attempt.unlimited) == FitVerdict::kDoesNotFit) {
    const auto device = DecidingDeviceOf(*attempt.unlimited);
    return has + "takes more than " + FormatBytes(device ? device->device.total : 0);
  }
  return has + "what it would take is not known: without the card's limit: " + Ended(*attempt.unlimited);
}

Color VerdictColor(FitVerdict verdict) {
  if (verdict == FitVerdict::kFits) return Color::kGreen;
  return verdict == FitVerdict::kDepends || verdict == FitVerdict::kWentOn ? Color::kYellow : Color::kRed;
}

void AddHolder(Table& table, const std::string& name, std::uint64_t bytes, std::uint64_t whole,
               const std::string& from) {
  if (bytes > 0) table.AddRow({name, FormatBytes(bytes), FormatShare(bytes, whole), from});
}

// The run whose peak is the need: it got to its end.
const FitRun* RunOfNeed(const FitCard& card) {
  const FitTry& attempt = card.high && NeedOf(*card.high) ? *card.high : card.low;
  if (!NeedOf(attempt)) return nullptr;
  return attempt.unlimited ? &*attempt.unlimited : &attempt.run;
}

std::string RenderDevice(const FitRun& run, bool limited, const Terminal& terminal) {
  const auto deciding = DecidingDeviceOf(run);
  if (!deciding) return "";
  const SimulatedDevice& device = deciding->device;
  Table table({"held by", "bytes", "share", "figure"});
  AddHolder(table, "context", device.context, device.peak, "table");
  AddHolder(table, "cudaMalloc (torch's segments)", device.peak_blocks, device.peak, "simulated");
  AddHolder(table, "expandable segments", device.peak_mapped, device.peak, "simulated");
  AddHolder(table, "cudaMallocAsync", device.peak_pools, device.peak, "simulated");
  AddHolder(table, "NVIDIA's libraries", device.peak_libraries, device.peak, "table");
  table.AddTotal({"total", FormatBytes(device.peak), FormatShare(device.peak, device.peak)});
  const std::string which = limited ? "" : ", in a run without the card's limit";
  return Painted(terminal, Color::kBold, fmt::format("The peak of device {}{}", device.ordinal, which)) + "\n" +
         table.Render(terminal, 2);
}

std::string RenderRows(const std::string& name, const std::vector<FitRow>& rows, const Terminal& terminal) {
  if (rows.empty()) return "";
  std::uint64_t whole = 0, rest = 0;
  for (const FitRow& row : rows) whole += row.bytes;
  Table table({name, "bytes", "share"});
  // A rest of one would take the line of the row that it hides.
  const std::size_t shown = rows.size() <= kTop + 1 ? rows.size() : kTop;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i >= shown) {
      rest += rows[i].bytes;
    } else {
      table.AddRow({ShownName(rows[i].name), FormatBytes(rows[i].bytes), FormatShare(rows[i].bytes, whole)});
    }
  }
  if (rest > 0)
    table.AddRow({fmt::format("other ({})", rows.size() - shown), FormatBytes(rest), FormatShare(rest, whole)});
  table.AddTotal({"total", FormatBytes(whole), FormatShare(whole, whole)});
  return table.Render(terminal, 2);
}

std::string RenderRecording(const FitRun& run, const Terminal& terminal) {
  if (!run.recording) return "";
  const FitRecording& recording = *run.recording;
  std::string heading = "torch's peak: " + FormatBytes(recording.peak_allocated) + " allocated";
  if (recording.peak_reserved) heading += ", " + FormatBytes(*recording.peak_reserved) + " reserved";
  return Painted(terminal, Color::kBold, heading) + "\n" + RenderRows("operator", recording.by_operator, terminal) +
         RenderRows("module", recording.by_module, terminal) + RenderRows("phase", recording.by_phase, terminal);
}

// Each a paragraph of its own.
std::string RenderDoubts(const FitCard& card, const Terminal& terminal) {
  std::string text;
  if (const std::string where = WhereItRanOut(DecidingRun(card)); !where.empty())
    text +=
        Paragraph(VerdictOf(card) == FitVerdict::kDepends ? "With the most that it may need it runs out " + where + "."
                                                          : "It ran out " + where + ".",
                  terminal);
  if (const auto deciding = DecidingDeviceOf(card.low.run);
      deciding && deciding->device.refusals > 0 && VerdictOf(card) == FitVerdict::kFits) {
    text += Paragraph(fmt::format("The card was full {}; torch gave cached memory back and went on.",
                                  FormatCounted(deciding->device.refusals, "time", "times")),
                      terminal);
  }
  for (const std::string& unknown : card.unknowns)
    text += Paragraph("What is needed depends on " + unknown + ": run with the least and with the most.", terminal);
  if (IsTight(card)) {
    text += Paragraph(fmt::format("What is left is less than the tables are exact to ({}): it may not fit.",
                                  FormatBytes(kTablesAreExactTo)),
                      terminal);
  }
  if (SharesADevice(card.low.run)) {
    text += Paragraph(
        "Several processes used one device. Each had the card to itself here; on a real one their needs add up.",
        terminal);
  }
  return text;
}

std::string Spare(const FitCard& card) {
  const auto need = NeedOf(card);
  return need ? FormatSignedBytes(Headroom(card, *need)) : "?";
}

}  // namespace

std::string VerdictWords(const FitCard& card) {
  switch (VerdictOf(card)) {
    case FitVerdict::kFits:
      return IsTight(card) ? "fits, barely" : "fits";
    case FitVerdict::kDoesNotFit:
      return "does not fit";
    case FitVerdict::kWentOn:
      return "ran out, and went on";
    case FitVerdict::kDepends:
      return "depends";
    case FitVerdict::kFailed:
      return "failed";
    case FitVerdict::kUnused:
      return "unused";
  }
  return "";
}

std::string VerdictReason(const FitCard& card) {
  const auto need = NeedOf(card);
  switch (VerdictOf(card)) {
    case FitVerdict::kFits:
      if (!need) return "what it takes is not known";
      return fmt::format("takes {} of {}, {} to spare", NeedWords(*need), FormatBytes(card.memory),
                         FormatBytes(card.memory - need->high));
    case FitVerdict::kWentOn:
      return fmt::format("all {} of the card were asked for; the program handled that", FormatBytes(card.memory));
    case FitVerdict::kDoesNotFit:
    case FitVerdict::kDepends:
      return LackReason(card);
    case FitVerdict::kFailed:
      return fmt::format(
          "{}, {}: no answer", Ended(card.low.run),
          card.low.run.processes.empty() ? "before it used the GPU" : "and not for lack of the GPU's memory");
    case FitVerdict::kUnused:
      return "nothing was allocated on the GPU: does the script choose cuda?";
  }
  return "";
}

std::string RenderFitLine(const FitCard& card, const std::string& what, const Terminal& terminal) {
  return fmt::format("{} on a SIMULATED {} ({}): {}: {}\n", Escaped(what), Escaped(card.name), Escaped(card.key),
                     Painted(terminal, VerdictColor(VerdictOf(card)), VerdictWords(card)), VerdictReason(card));
}

std::string RenderFit(const FitCard& card, const std::string& what, const Terminal& terminal) {
  std::string text = RenderFitLine(card, what, terminal) + RenderDoubts(card, terminal);
  if (const FitRun* const run = RunOfNeed(card); run != nullptr && VerdictOf(card) != FitVerdict::kUnused) {
    const bool limited = run == &card.low.run || (card.high && run == &card.high->run);
    text += RenderDevice(*run, limited, terminal) + RenderRecording(*run, terminal);
  }
  const bool answered = VerdictOf(card) != FitVerdict::kFailed && VerdictOf(card) != FitVerdict::kUnused;
  return answered ? text + RenderFitNotes(terminal) : text;
}

std::string RenderFitTable(std::vector<FitCard> cards, const std::string& what, const Terminal& terminal) {
  std::ranges::stable_sort(cards, {}, &FitCard::memory);
  Table table({"card", "has", "takes", "to spare", "verdict", "runs out"});
  bool without_limit = false;
  for (const FitCard& card : cards) {
    const auto need = NeedOf(card);
    without_limit = without_limit || (need && card.low.unlimited);
    const std::string where = WhereItRanOut(DecidingRun(card));
    table.AddRow({Escaped(card.key), FormatBytes(card.memory), need ? NeedWords(*need) : "?", Spare(card),
                  VerdictWords(card), VerdictOf(card) == FitVerdict::kFits ? "" : where});
  }
  std::string text = Painted(terminal, Color::kBold, Escaped(what) + " on SIMULATED cards") + "\n";
  text += table.Render(terminal, 2);
  if (without_limit)
    text += Paragraph("Where it does not fit: what it takes in a run without the card's limit.", terminal);
  for (const FitCard& card : cards) {
    const FitVerdict verdict = VerdictOf(card);
    if (verdict == FitVerdict::kFailed || verdict == FitVerdict::kUnused || verdict == FitVerdict::kWentOn)
      text += Paragraph(Escaped(card.key) + ": " + VerdictReason(card), terminal);
    if (IsTight(card)) text += Paragraph(Escaped(card.key) + ": less is left than the tables are exact to", terminal);
  }
  if (!cards.empty() && SharesADevice(cards.front().low.run))
    text += Paragraph("Several processes used one device; on a real card their needs add up.", terminal);
  return text + RenderFitNotes(terminal);
}

std::string RenderFitNotes(const Terminal& terminal) {
  return Painted(terminal, Color::kDim,
                 Wrapped("Simulated: kernels did nothing, no GPU was measured. From tables, as estimates: each card's "
                         "memory and context, and NCCL's buffers. Not counted: workspaces of cuDNN, cuFFT, cuSOLVER "
                         "and cuSPARSE, other "
                         "programs on the card (docs/fit.md).",
                         terminal.width, 0)) +
         "\n";
}

}  // namespace memoir
