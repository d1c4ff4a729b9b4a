// memoir fit: runs a program on simulated cards. Finds whether the program fits on a card, on which cards it fits, and
// the largest value (such as a batch size) with which it fits.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "tools/analyze/fit/fit_curve.h"
#include "tools/analyze/fit/largest_fit.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/attach/start_failure.h"
#include "tools/cli/brief/brief_answer.h"
#include "tools/cli/fit/fit_options.h"
#include "tools/cli/fit/fit_subjects.h"
#include "tools/cli/fit/simulator.h"
#include "tools/cli/installed/python_facts.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/view/fit/fit_curve_png.h"
#include "tools/view/fit/fit_curve_text.h"
#include "tools/view/fit/fit_json.h"
#include "tools/view/fit/fit_text.h"
#include "tools/view/terminal/terminal.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

// Returns a short name of the command: "train.py" for "python train.py", "torchrun" for "torchrun -m pkg".
std::string NameOf(const Strings& command) {
  for (const std::string& word : command) {
    if (word.ends_with(".py")) return fs::path(word).filename().string();
  }
  return fs::path(command.front()).filename().string();
}

// Returns the terminal for reports on standard error.
Terminal ErrorTerminal() {
  constexpr std::size_t kPrefix = 8;  // "memoir: "
  Terminal terminal = DetectTerminal(STDERR_FILENO);
  terminal.width -= kPrefix;
  return terminal;
}

class Fitting {
 public:
  explicit Fitting(const FitOptions& options)
      : options_(options), simulator_(options), subjects_(options, simulator_), what_(NameOf(options.command)) {}

  int Run() {
    if (const absl::Status status = simulator_.Prepare(); !status.ok()) return Fail(status);
    if (options_.variation) return RunVariation();
    return options_.cards.size() == 1 ? RunOne() : RunCards();
  }

 private:
  std::string Hint(const FitCard& card) const;
  void NoteTorch(std::vector<FitCard>& cards) const;
  void SayFailures(const std::vector<FitCard>& cards, const std::vector<FitSubject>& subjects) const;

  int RunOne();
  int RunCards();
  int RunVariation();
  std::string Printed(const Json& json) const;
  int ShowOne(const FitCard& card) const;
  int WritePng(const FitCurve& curve) const;
  int ShowCurve(const FitCurve& curve) const;

  const FitOptions& options_;
  Simulator simulator_;
  FitSubjects subjects_;
  const std::string what_;
};

// Explains why a program may not have used the GPU, or may have failed before it used the GPU. "" if the reason is
// unknown.
std::string Fitting::Hint(const FitCard& card) const {
  const FitRun& run = card.low.run;
  if (run.signal == SIGKILL) return "was it the host's memory that ran out?";
  if (!run.processes.empty()) return "";
  const std::string interpreter = InterpreterOf(options_.command);
  const auto python = ExaminePython(interpreter);
  if (interpreter.empty() || !python.ok()) return "";
  if (python->torch_folder.empty()) return python->executable + " has no torch; run it with a python that has one";
  std::error_code error;
  if (!fs::exists(fs::path(python->torch_folder) / "lib" / "libtorch_cuda.so", error)) {
    return fmt::format("torch {} of {} is built without CUDA; install one with it: pip install torch",
                       python->torch_version, python->executable);
  }
  return "";
}

// Sets torch's version from a recording. Without a recording, sets the version that the interpreter would import.
void Fitting::NoteTorch(std::vector<FitCard>& cards) const {
  std::string version;
  for (const FitCard& card : cards) {
    for (const FitRun* const run : {&card.low.run, card.high ? &card.high->run : nullptr}) {
      if (run != nullptr && run->recording) version = run->recording->torch_version;
    }
  }
  if (const std::string interpreter = InterpreterOf(options_.command); version.empty() && !interpreter.empty()) {
    const auto python = ExaminePython(interpreter);
    if (python.ok()) version = python->torch_version;
  }
  for (FitCard& card : cards) card.torch = version;
}

// Returns `json` as it is printed. With --brief, it is shortened, with a command that records the program on the
// simulated card.
std::string Fitting::Printed(const Json& json) const {
  const std::string& card = options_.cards.front().key;
  return options_.brief ? BriefFit(ToText(json), card, options_.command) : ToText(json);
}

int Fitting::ShowOne(const FitCard& card) const {
  if (options_.json) return WriteOutput(Printed(FitJson({card}, options_.command)));
  const Terminal terminal = ErrorTerminal();
  PrintReport(options_.quiet ? RenderFitLine(card, what_, terminal) : RenderFit(card, what_, terminal));
  return kExitFine;
}

int Fitting::RunOne() {
  const std::vector<FitSubject> subjects = {{options_.cards.front().key, options_.cards.front(), options_.command}};
  if (!options_.quiet && DetectTerminal(STDERR_FILENO).interactive) {
    const std::string line =
        fmt::format("{} runs on a SIMULATED {}; the answer comes after its output (^C: what it took until then)",
                    Escaped(what_), Escaped(options_.cards.front().name));
    PrintReport(Wrapped(line, ErrorTerminal().width, 0));
  }
  ChildResult result;
  std::vector<FitCard> cards = {subjects_.RunHere(subjects.front(), result)};
  if (result.start_error != 0) return ReportStartFailure(options_.command, result.start_error);
  if (!cards[0].low.run.interrupted) {
    if (!subjects_.RunBounds(subjects, cards) || !subjects_.LearnNeeds(subjects, cards)) return result.exit_code;
  }
  if (const std::string hint = Hint(cards[0]); !hint.empty() && cards[0].low.run.processes.empty()) PrintMessage(hint);
  NoteTorch(cards);
  const int shown = ShowOne(cards[0]);
  // If the run with the smallest possible shapes failed, the exit code of LeadingRun() is returned.
  const bool failed = VerdictOf(cards[0].low.run) == FitVerdict::kFailed;
  const int code = failed ? LeadingRun(cards[0]).exit_code : result.exit_code;
  return code != 0 ? code : shown;
}

// Prints a hint about the first subject that did not use the GPU, or failed for another reason than memory. If this
// subject failed, also prints the last line of its output.
void Fitting::SayFailures(const std::vector<FitCard>& cards, const std::vector<FitSubject>& subjects) const {
  for (std::size_t i = 0; i < cards.size(); ++i) {
    const FitVerdict verdict = VerdictOf(cards[i]);
    if (verdict != FitVerdict::kFailed && verdict != FitVerdict::kUnused) continue;
    if (const std::string hint = Hint(cards[i]); !hint.empty()) PrintMessage(hint);
    const std::string end = simulator_.EndOfOutput(subjects[i].name);
    if (verdict == FitVerdict::kFailed && !end.empty()) PrintMessage(fmt::format("{}: {}", subjects[i].name, end));
    return;
  }
}

// Returns the program's exit code if it failed on every card for another reason than memory, otherwise 0.
int CodeOf(const std::vector<FitCard>& cards) {
  for (const FitCard& card : cards) {
    if (VerdictOf(card) != FitVerdict::kFailed) return kExitFine;
  }
  return cards.front().low.run.exit_code;
}

int Fitting::RunCards() {
  std::vector<FitSubject> subjects;
  for (const SimulatedCard& card : options_.cards) subjects.push_back({card.key, card, options_.command});
  auto cards = subjects_.Run(subjects, "simulating " + what_);
  if (!cards || !subjects_.RunBounds(subjects, *cards) || !subjects_.LearnNeeds(subjects, *cards))
    return simulator_.exit_code();
  SayFailures(*cards, subjects);
  int shown = kExitFine;
  const Terminal terminal = DetectTerminal(STDOUT_FILENO);
  NoteTorch(*cards);
  if (options_.json) {
    shown = WriteOutput(Printed(FitJson(*cards, options_.command)));
  } else if (options_.quiet) {
    std::string text;
    for (const FitCard& card : *cards) text += RenderFitLine(card, what_, terminal);
    shown = WriteOutput(text);
  } else {
    shown = WriteOutput(RenderFitTable(*cards, what_, terminal));
  }
  return shown != kExitFine ? shown : CodeOf(*cards);
}

// A program counts as fitting only if its verdict is kFits.
FitOutcome OutcomeOf(FitVerdict verdict) {
  if (verdict == FitVerdict::kFits) return FitOutcome::kFits;
  const bool unanswered =
      verdict == FitVerdict::kFailed || verdict == FitVerdict::kUnused || verdict == FitVerdict::kInterrupted;
  return unanswered ? FitOutcome::kFailed : FitOutcome::kDoesNotFit;
}

void AddPoints(const std::vector<std::uint64_t>& values, const std::vector<FitCard>& cards, FitCurve& curve) {
  for (std::size_t i = 0; i < cards.size(); ++i) {
    const FitVerdict verdict = VerdictOf(cards[i]);
    const auto need = verdict == FitVerdict::kUnused ? std::nullopt : NeedOf(cards[i]);
    curve.points.push_back({values[i], verdict, need, cards[i].low.run.exit_code, FitsBarely(cards[i])});
    curve.memory = cards[i].memory;
    const bool larger = std::ranges::none_of(curve.points, [&](const FitPoint& point) {
      return point.verdict == FitVerdict::kFits && point.value > values[i];
    });
    if (verdict == FitVerdict::kFits && larger) curve.at_largest = cards[i];
    if (curve.torch.empty()) curve.torch = cards[i].torch;
  }
}

int Fitting::RunVariation() {
  const Variation& variation = *options_.variation;
  LargestFit search(variation.first, variation.last, variation.step);
  FitCurve curve;
  curve.variable = variation.name;
  curve.key = options_.cards.front().key;
  curve.name = options_.cards.front().name;
  curve.first = variation.first;
  curve.last = variation.last;
  curve.step = variation.step;
  const std::size_t at_once = std::max(1u, std::thread::hardware_concurrency());
  for (auto values = search.ChooseValues(at_once); !values.empty(); values = search.ChooseValues(at_once)) {
    std::vector<FitSubject> subjects;
    for (const std::uint64_t value : values) {
      subjects.push_back({fmt::format("{}-{}", variation.name, value), options_.cards.front(),
                          WithValue(options_.command, variation, value)});
    }
    auto cards = subjects_.Run(subjects, "simulating " + what_);
    if (!cards || !subjects_.RunBounds(subjects, *cards)) return simulator_.exit_code();
    for (std::size_t i = 0; i < values.size(); ++i) search.Add(values[i], OutcomeOf(VerdictOf((*cards)[i])));
    // The values of the first round are far apart, so the curve needs the memory of each. Values that do not fit are
    // run again without the card's limit.
    if (curve.points.empty() && !subjects_.LearnNeeds(subjects, *cards)) return simulator_.exit_code();
    if (curve.points.empty()) SayFailures(*cards, subjects);
    if (curve.points.empty()) NoteTorch(*cards);
    AddPoints(values, *cards, curve);
  }
  std::ranges::sort(curve.points, {}, &FitPoint::value);
  curve.largest = search.largest();
  curve.next_that_fails = search.next_that_fails();
  curve.contradictions = search.contradictions();
  return ShowCurve(curve);
}

// Writes the picture that --png requests. ResolvePng() tested the file before anything ran, but the disk may be full
// now.
int Fitting::WritePng(const FitCurve& curve) const {
  if (options_.png.empty()) return kExitFine;
  std::ofstream file(options_.png, std::ios::binary);
  file << FitCurvePng(curve, what_);
  if (file.flush()) return kExitFine;
  PrintMessage("cannot write " + options_.png + " any more; free space, or choose another file with --png FILE");
  return kExitError;
}

int Fitting::ShowCurve(const FitCurve& curve) const {
  int shown = WritePng(curve);
  const Terminal terminal = DetectTerminal(STDOUT_FILENO);
  const std::string text = options_.json    ? Printed(FitCurveJson(curve, options_.command))
                           : options_.quiet ? CurveAnswer(curve) + "\n"
                                            : RenderFitCurve(curve, what_, terminal);
  shown = std::max(shown, WriteOutput(text));
  const bool any = std::ranges::any_of(
      curve.points, [](const FitPoint& point) { return OutcomeOf(point.verdict) != FitOutcome::kFailed; });
  if (shown != kExitFine || any) return shown;
  return std::max(curve.points.front().exit_code, kExitError);
}

}  // namespace

int FitVerb(const std::vector<std::string>& arguments) {
  FitOptions options;
  if (const auto code = ParseFitOptions(arguments, options)) return *code;
  return Fitting(options).Run();
}

}  // namespace memoir
