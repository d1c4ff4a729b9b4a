#include "tools/view/fit/fit_text.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "tools/view/fit/fit_peak_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/text_table.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

std::string Paragraph(const std::string& text, const Terminal& terminal) {
  return Wrapped(text, terminal.width, 0) + "\n";
}

std::string NeedWords(const FitInterval& need) {
  if (need.is_point()) return FormatBytes(need.high);
  if (need.low == 0) return "up to " + FormatBytes(need.high);
  return fmt::format("{} to {}", FormatBytes(need.low), FormatBytes(need.high));
}

// Returns the free bytes of the card if everything happens as simulated. Negative if bytes are missing.
std::int64_t Headroom(const FitCard& card, const FitInterval& need) {
  return static_cast<std::int64_t>(card.memory) - static_cast<std::int64_t>(need.high);
}

// Returns the attempt that decides whether the program fits: FitCard::high if it exists and FitCard::low fits or
// failed, otherwise FitCard::low.
const FitAttempt& DecidingTry(const FitCard& card) {
  const FitVerdict low = VerdictOf(card.low.run);
  return card.high && (low == FitVerdict::kFits || low == FitVerdict::kFailed) ? *card.high : card.low;
}

std::string EndText(const FitRun& run) {
  if (run.signal != 0) return fmt::format("signal {} ended it", run.signal);
  return fmt::format("exit code {}", run.exit_code);
}

// Returns "in aten::linear, module blocks.3 (forward), asking for 512.0 MiB with 13.9 GiB in use". "" if the run did
// not run out of memory.
std::string OutOfMemoryPlaceText(const FitRun& run) {
  const auto deciding = DecidingDeviceOf(run);
  const auto& recorded = run.recording ? run.recording->out_of_memory : std::nullopt;
  std::uint64_t asked = deciding ? deciding->device.refused : 0;
  std::string place;
  if (recorded) {
    place = recorded->operator_name.empty() ? "outside of any operator" : "in " + Escaped(recorded->operator_name);
    if (!recorded->module.empty()) place += ", module " + Escaped(recorded->module);
    if (recorded->phase != Phase::kOther) place += fmt::format(" ({})", ToString(recorded->phase));
    place += ',';
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
  if (need) {
    const std::int64_t left = Headroom(card, *need);
    if (left >= 0 || !need->is_point())
      return fmt::format("takes {}, the card has {}", NeedWords(*need), FormatBytes(card.memory));
    return fmt::format("takes {}, {} more than the card's {}", NeedWords(*need),
                       FormatBytes(static_cast<std::uint64_t>(-left)), FormatBytes(card.memory));
  }
  const FitAttempt& attempt = DecidingTry(card);
  const std::string has = "has " + FormatBytes(card.memory) + "; ";
  if (!attempt.unlimited) return has + "what it takes was not tried";
  if (VerdictOf(*attempt.unlimited) == FitVerdict::kDoesNotFit) {
    const auto device = DecidingDeviceOf(*attempt.unlimited);
    return has + "takes more than " + FormatBytes(device ? device->device.total : 0);
  }
  return has +
         "what it takes is not known, because a run without the card's limit failed: " + EndText(*attempt.unlimited);
}

// Returns the text after the verdict, for a run that was stopped early.
std::string InterruptedText(const FitCard& card) {
  const auto deciding = DecidingDeviceOf(card.low.run);
  if (!deciding) return "before it used the GPU: no answer";
  const bool ran_out = deciding->device.refused > 0;
  return fmt::format("no verdict; up to then it took {} of {}{}", FormatBytes(deciding->device.peak),
                     FormatBytes(card.memory), ran_out ? ", and asked for more than the card has" : "");
}

Color VerdictColor(FitVerdict verdict) {
  if (verdict == FitVerdict::kFits) return Color::kGreen;
  return verdict == FitVerdict::kDepends || verdict == FitVerdict::kWentOn ? Color::kYellow : Color::kRed;
}

// Returns the run whose peak is the upper end of NeedOf(card). This run reached its end. nullptr if there is no such
// run.
const FitRun* RunOfNeed(const FitCard& card) {
  const FitAttempt& attempt = card.high && NeedOf(*card.high) ? *card.high : card.low;
  if (!NeedOf(attempt)) return nullptr;
  return attempt.unlimited ? &*attempt.unlimited : &attempt.run;
}

// Returns a note if the verdict may change with a driver that reports another size of the card. Otherwise empty.
std::string MemoryRange(const FitCard& card) {
  const auto need = NeedOf(card);
  if (card.memory_most <= card.memory || (need && need->low > card.memory_most)) return "";
  if (!FitsBarely(card) && VerdictOf(card) != FitVerdict::kDoesNotFit) return "";
  return fmt::format("Drivers report {} to {} for this card (ECC, driver, cloud); the verdict is for the least.",
                     FormatBytes(card.memory), FormatBytes(card.memory_most));
}

// Explains why the answer is an interval or is uncertain.
std::vector<std::string> Doubts(const FitCard& card) {
  std::vector<std::string> doubts;
  const auto need = NeedOf(card);
  for (const std::string& unknown : card.unknowns) {
    doubts.push_back("What it takes depends on " + unknown +
                     (need && need->is_point()
                          ? ": the program was run with the lowest and the highest, and takes the same."
                          : ": the program was run with the lowest and the highest."));
  }
  if (card.high && VerdictOf(card.low.run) == FitVerdict::kFailed) {
    doubts.push_back(
        fmt::format("With the lowest the program failed ({}), as it may with empty tensors.", EndText(card.low.run)));
  }
  if (SharesADevice(card.low.run)) {
    doubts.push_back(
        "Several processes used one card. Here each had the whole card; on a real one they share it, and what they "
        "need at the same time adds up.");
  }
  if (card.low.run.unknown_numbers) {
    doubts.push_back(
        "The program read numbers that were not computed (.item(), .tolist(), .cpu()) as zeros: if sizes depend on "
        "them, it may take more.");
  }
  return doubts;
}

// Returns one sentence about a card. `verdict`: the text of the card's verdict.
std::string Sentence(const FitCard& card, const std::string& what, const std::string& verdict) {
  return fmt::format("{} on a SIMULATED {} ({}): {}: {}{}", Escaped(what), Escaped(card.name), Escaped(card.key),
                     verdict, VerdictReason(card), TorchWords(card.torch));
}

// Returns the text of RenderFitLine(), wrapped to the terminal's width.
std::string RenderVerdict(const FitCard& card, const std::string& what, const Terminal& terminal) {
  const std::string words = VerdictWords(card);
  std::string text = Paragraph(Sentence(card, what, words), terminal);
  // The verdict is painted after the text is wrapped, because colour codes would count as columns. A verdict that
  // contains a line break stays plain.
  if (const std::size_t at = text.find("): " + words + ": "); at != std::string::npos)
    text.replace(at + 3, words.size(), Painted(terminal, VerdictColor(VerdictOf(card)), words));
  return text;
}

std::string HeadroomCell(const FitCard& card) {
  const auto need = NeedOf(card);
  return need ? FormatSignedBytes(Headroom(card, *need)) : "?";
}

// Returns the part below the table: the owners of the peak, for the smallest card on which the program fits.
std::string RenderPeakOf(const std::vector<FitCard>& cards, const Terminal& terminal) {
  for (const FitCard& card : cards) {
    const FitRun* const run = RunOfNeed(card);
    if (VerdictOf(card) != FitVerdict::kFits || run == nullptr) continue;
    return Paragraph(fmt::format("The peak on {0}: {1}. All owners: the same with --gpu {0}.", Escaped(card.key),
                                 FitPeakWords(*run)),
                     terminal);
  }
  return "";
}

}  // namespace

std::string RenderDoubts(const FitCard& card, const Terminal& terminal) {
  std::string text;
  const FitVerdict verdict = VerdictOf(card);
  if (const std::string where = OutOfMemoryPlaceText(DecidingTry(card).run); !where.empty())
    text += Paragraph(verdict == FitVerdict::kDepends ? "In the worst case it runs out of memory " + where + "."
                                                      : "It runs out of memory " + where + ".",
                      terminal);
  if (const auto deciding = DecidingDeviceOf(card.low.run);
      deciding && deciding->device.refusals > 0 && verdict == FitVerdict::kFits) {
    text += Paragraph(fmt::format("The card was full {}; torch then freed its cache and continued.",
                                  FormatCounted(deciding->device.refusals, "time", "times")),
                      terminal);
  }
  if (FitsBarely(card)) {
    text += Paragraph(fmt::format("The spare memory is less than the uncertainty of the tables ({}): it may not fit.",
                                  FormatBytes(TablesAreExactTo(card.memory))),
                      terminal);
  }
  if (const std::string range = MemoryRange(card); !range.empty()) text += Paragraph(range, terminal);
  for (const std::string& doubt : Doubts(card)) text += Paragraph(doubt, terminal);
  return text;
}

std::string TorchWords(const std::string& version) {
  return version.empty() ? "" : fmt::format(" (torch {})", Escaped(version));
}

std::string VerdictWords(const FitCard& card) {
  switch (VerdictOf(card)) {
    case FitVerdict::kFits:
      return FitsBarely(card) ? "fits, barely" : "fits";
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
    case FitVerdict::kInterrupted:
      return "interrupted";
  }
  return "";
}

std::string VerdictReason(const FitCard& card) {
  const auto need = NeedOf(card);
  switch (VerdictOf(card)) {
    case FitVerdict::kFits:
      if (!need) return "what it takes is not known";
      return fmt::format("takes {} of {}, {}{} to spare", NeedWords(*need), FormatBytes(card.memory),
                         need->is_point() ? "" : "at least ", FormatBytes(card.memory - need->high));
    case FitVerdict::kWentOn:
      return fmt::format("it used all {} of the card; the program handled the error", FormatBytes(card.memory));
    case FitVerdict::kDoesNotFit:
    case FitVerdict::kDepends:
      return LackReason(card);
    case FitVerdict::kFailed:
      return fmt::format("{}, {}: no answer", EndText(card.low.run),
                         card.low.run.processes.empty() ? "before it used the GPU" : "not because of GPU memory");
    case FitVerdict::kUnused:
      return "nothing was allocated on the GPU: does the script choose cuda?";
    case FitVerdict::kInterrupted:
      return InterruptedText(card);
  }
  return "";
}

std::string RenderFitLine(const FitCard& card, const std::string& what, const Terminal& terminal) {
  return Sentence(card, what, Painted(terminal, VerdictColor(VerdictOf(card)), VerdictWords(card))) + "\n";
}

std::string RenderFit(const FitCard& card, const std::string& what, const Terminal& terminal) {
  const FitVerdict verdict = VerdictOf(card);
  std::string text = RenderVerdict(card, what, terminal);
  if (verdict == FitVerdict::kFailed || verdict == FitVerdict::kUnused) return text;
  if (verdict == FitVerdict::kInterrupted)
    return text + RenderFitPeak(card.low.run, ", up to then", terminal) + RenderFitNotes(terminal);
  text += RenderDoubts(card, terminal);
  if (const FitRun* const run = RunOfNeed(card)) {
    const bool limited = run == &card.low.run || (card.high && run == &card.high->run);
    const bool most = card.high && run != &card.low.run && (!card.low.unlimited || run != &*card.low.unlimited);
    text += RenderFitPeak(
        *run, std::string(most ? ", in the worst case" : "") + (limited ? "" : ", in a run without the card's limit"),
        terminal);
  }
  return text + RenderFitNotes(terminal);
}

std::string RenderFitTable(std::vector<FitCard> cards, const std::string& what, const Terminal& terminal) {
  std::ranges::stable_sort(cards, {}, &FitCard::memory);
  TextTable table({"card", "has", "takes", "to spare", "verdict"});
  bool without_limit = false;
  std::string text, remarks;
  std::vector<std::string> said;  // remarks that hold for several cards are printed once
  for (const FitCard& card : cards) {
    const auto need = NeedOf(card);
    without_limit = without_limit || (need && (card.low.unlimited || (card.high && card.high->unlimited)));
    table.AddRow({Escaped(card.key), FormatBytes(card.memory), need ? NeedWords(*need) : "?", HeadroomCell(card),
                  VerdictWords(card)});
    const FitVerdict verdict = VerdictOf(card);
    const std::string where = OutOfMemoryPlaceText(DecidingTry(card).run);
    if (verdict == FitVerdict::kFailed || verdict == FitVerdict::kUnused || verdict == FitVerdict::kWentOn || !need)
      remarks += Paragraph(Escaped(card.key) + ": " + VerdictReason(card), terminal);
    if (!where.empty() && verdict != FitVerdict::kFits)
      remarks += Paragraph(fmt::format("{}: runs out of memory {}{}", Escaped(card.key), where,
                                       verdict == FitVerdict::kDepends ? ", in the worst case" : ""),
                           terminal);
    if (FitsBarely(card)) {
      remarks += Paragraph(fmt::format("{}: the spare memory is less than the uncertainty of the tables ({})",
                                       Escaped(card.key), FormatBytes(TablesAreExactTo(card.memory))),
                           terminal);
    }
    for (const std::string& doubt : Doubts(card)) {
      if (std::ranges::find(said, doubt) == said.end()) said.push_back(doubt);
    }
  }
  const std::string torch = cards.empty() ? "" : TorchWords(cards.front().torch);
  text =
      Painted(terminal, Color::kBold, Escaped(what) + " on SIMULATED cards" + torch) + "\n" + table.Render(terminal, 2);
  if (without_limit)
    text += Paragraph("Where it does not fit: what it takes in a run without the card's limit.", terminal);
  text += remarks;
  for (const std::string& doubt : said) text += Paragraph(doubt, terminal);
  return text + RenderPeakOf(cards, terminal) + RenderFitNotes(terminal);
}

std::string RenderFitNotes(const Terminal& terminal) {
  return Painted(
             terminal, Color::kDim,
             Wrapped("Simulated: kernels did nothing, no GPU was measured. Estimates from tables: each card's memory "
                     "and context, what NCCL, cuBLAS and cuDNN take, and workspaces that they request from torch. Not "
                     "counted: workspaces of unpublished size, other programs on the card (docs/fit.md).",
                     terminal.width, 0)) +
         "\n";
}

}  // namespace memoir
