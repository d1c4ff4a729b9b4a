// memoir doctor: prints what can be recorded on this machine, what cannot be recorded and why, and the remedy.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/brief/brief_answer.h"
#include "tools/cli/doctor/dead_ring_checks.h"
#include "tools/cli/doctor/doctor_checks.h"
#include "tools/cli/doctor/recorded_facts.h"
#include "tools/cli/doctor/simulation_checks.h"
#include "tools/cli/installed/install_tree.h"
#include "tools/cli/process/child_process.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): throws only if memory runs out, which ends any program
const VerbHelp kHelp = {
    .verb = "doctor",
    .usage = "doctor [OPTIONS]",
    .description =
        "Check what can be recorded on this machine. For each problem, print the cause and the remedy. Exit code 3: "
        "something is wrong.",
    .examples =
        "  memoir doctor\n"
        "  memoir doctor --python /opt/env/bin/python --output /scratch/run7\n",
};

const char* LevelName(DoctorCheck::Level level) {
  switch (level) {
    case DoctorCheck::Level::kFine:
      return "ok";
    case DoctorCheck::Level::kNote:
      return "note";
    case DoctorCheck::Level::kWrong:
      return "wrong";
  }
  return "ok";
}

Color LevelColor(DoctorCheck::Level level) {
  switch (level) {
    case DoctorCheck::Level::kFine:
      return Color::kGreen;
    case DoctorCheck::Level::kNote:
      return Color::kYellow;
    case DoctorCheck::Level::kWrong:
      return Color::kRed;
  }
  return Color::kGreen;
}

std::size_t Wrong(const std::vector<DoctorCheck>& checks) {
  return static_cast<std::size_t>(std::ranges::count(checks, DoctorCheck::Level::kWrong, &DoctorCheck::level));
}

std::string Verdict(const std::vector<DoctorCheck>& checks) {
  const std::size_t wrong = Wrong(checks);
  if (wrong == 0) {
    const bool of_gpus =
        std::ranges::any_of(checks, [](const DoctorCheck& check) { return check.subject == "CUDA memory"; });
    return fmt::format(
        "Recorded here: operators, backward nodes and user ranges with their tensors, and the memory {}.",
        of_gpus ? "of GPUs and of every CPU tensor" : "of every CPU tensor");
  }
  return fmt::format("{}: recording will fail or be incomplete until {} fixed.",
                     FormatCounted(wrong, "problem", "problems"), wrong == 1 ? "it is" : "they are");
}

// Renders the checks. Texts are wrapped only at spaces, so paths stay whole.
std::string RenderChecks(const std::vector<DoctorCheck>& checks, const Terminal& terminal) {
  constexpr std::size_t kLevelWidth = 6, kSubjectWidth = 16;
  std::string text;
  for (const DoctorCheck& check : checks) {
    text += Painted(terminal, LevelColor(check.level), PaddedRight(LevelName(check.level), kLevelWidth)) +
            PaddedRight(check.subject, kSubjectWidth) +
            Wrapped(Escaped(check.finding), terminal.width, kLevelWidth + kSubjectWidth) + "\n";
    if (check.fix.empty()) continue;
    const std::string arrow = std::string(kLevelWidth + kSubjectWidth, ' ') + "-> ";
    text += arrow + Wrapped(Escaped(check.fix), terminal.width, arrow.size()) + "\n";
  }
  return text + "\n" + Wrapped(Verdict(checks), terminal.width, 0) + "\n";
}

Json ChecksJson(const std::vector<DoctorCheck>& checks) {
  Json json = {{"version", 1}, {"view", "doctor"}, {"wrong", Wrong(checks)}, {"checks", Json::array()}};
  for (const DoctorCheck& check : checks) {
    json["checks"].push_back({{"level", LevelName(check.level)},
                              {"subject", check.subject},
                              {"finding", check.finding},
                              {"fix", check.fix}});
  }
  return json;
}

std::string DefaultPython() {
  for (const char* name : {"python", "python3"}) {
    if (!FindOnPath(name).empty()) return name;
  }
  return "python3";
}

std::vector<DoctorCheck> AllChecks(const std::string& python, const std::string& output, bool clean) {
  const InstallTree tree = FindInstallTree();
  std::vector<DoctorCheck> checks;
  for (const auto& group : {CheckInstallation(tree), CheckPython(tree, python), CheckEnvironment(), CheckSystem(output),
                            CheckRecordedFacts(), CheckDeadRings(tree, clean)}) {
    checks.insert(checks.end(), group.begin(), group.end());
  }
  return checks;
}

// Returns the command that also shows the checks that found no problem.
std::vector<std::string> DoctorInFull(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"doctor"};
  std::ranges::copy_if(arguments, std::back_inserter(words), [](const std::string& word) { return word != "--brief"; });
  return words;
}

}  // namespace

int DoctorVerb(const std::vector<std::string>& arguments) {
  const auto app = MakeArguments(kHelp);
  const char* inherited = std::getenv("MEMOIR_OUTPUT");
  std::string python, output = inherited == nullptr || *inherited == '\0' ? "." : inherited;
  bool json = false, brief = false, simulated = false, clean = false;
  app->add_option("--python", python, "Python interpreter of the program [python on PATH]");
  app->add_option("-o,--output", output, "folder into which you want to record [MEMOIR_OUTPUT, else .]");
  app->add_flag("--simulated", simulated,
                "also check whether the simulated GPU has every function of CUDA that this torch imports");
  app->add_flag("--clean", clean,
                "move the last events of killed processes from shared memory into their captures, and remove those "
                "whose captures are gone");
  AddJson(*app, json, brief, "the same as JSON (docs/json.md)");
  if (const auto code = ParseArguments(*app, "doctor", arguments)) return *code;
  if (python.empty()) python = DefaultPython();
  auto checks = AllChecks(python, output, clean);
  if (simulated) std::ranges::move(CheckSimulatedDevice(FindInstallTree(), python), std::back_inserter(checks));
  const std::string text = brief  ? BriefAnswer(ToText(ChecksJson(checks)), DoctorInFull(arguments))
                           : json ? ToText(ChecksJson(checks))
                                  : RenderChecks(checks, DetectTerminal(STDOUT_FILENO));
  if (const int failed = WriteOutput(text); failed != kExitFine) return failed;
  return Wrong(checks) > 0 ? kExitFinding : kExitFine;
}

}  // namespace memoir
