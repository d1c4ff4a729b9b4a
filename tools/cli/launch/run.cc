// memoir run: records a command from its start to its end, then shows the summary.
//
// If the command cannot be recorded, it runs nevertheless, and one line with the cause is printed.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/attach/attachment.h"
#include "tools/cli/attach/environment.h"
#include "tools/cli/attach/launcher.h"
#include "tools/cli/attach/nothing_recorded.h"
#include "tools/cli/attach/record_options.h"
#include "tools/cli/attach/ring_merge.h"
#include "tools/cli/attach/start_failure.h"
#include "tools/cli/installed/install_tree.h"
#include "tools/cli/launch/launched_processes.h"
#include "tools/cli/launch/run_summary.h"
#include "tools/cli/launch/running_summaries.h"
#include "tools/cli/launch/simulated_device.h"
#include "tools/cli/process/child_process.h"
#include "tools/cli/process/output_folder.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/model/parts/process_liveness.h"

namespace memoir {
namespace {

using Strings = std::vector<std::string>;

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): throws only if memory runs out, which ends any program
const VerbHelp kHelp = {
    .verb = "run",
    .usage = "run [OPTIONS] -- COMMAND...",
    .description =
        "Record COMMAND and every process it starts that imports torch, then show the summary on standard error. "
        "COMMAND's exit code, signals and standard streams are its own, and a signal that ends COMMAND ends memoir, "
        "too. If recording is not possible (an output folder "
        "that cannot be written, a torch that this Memoir does not support), a line names the cause and COMMAND runs "
        "unrecorded.\n"
        "All processes of a job record into one folder, and the summary lists its ranks. Where a launcher starts "
        "memoir itself (srun memoir run -- ...), only rank 0 writes to the terminal, and without -o the folder is "
        "named after the job: memoir-slurm-JOB.STEP, or after the time at which the launcher started.\n"
        "Each option of the recording can also be given as an environment variable (--max-size: MEMOIR_MAX_SIZE); "
        "COMMAND inherits that variable. --simulate CARD runs COMMAND on a simulated GPU, whose kernels do nothing: "
        "the same memory, no results (docs/simulated_device.md).\n"
        "With --print-env no COMMAND is run. The variables are printed, for launchers that start the processes "
        "themselves: eval \"$(memoir run --print-env -o run7)\"; srun python train.py; memoir show run7",
    .examples =
        "  memoir run -- python train.py --epochs 1\n"
        "  memoir run -q -o /scratch/run7 --max-size 1GiB --simulate h100 -- python train.py\n",
};

constexpr char kAlwaysOn[] = "--always-on";
constexpr char kSummaryEvery[] = "--summary-every";

std::set<std::string> FlagsWithoutValue() {
  std::set<std::string> flags = {"-q", "-h", "--help", "--print-env"};
  flags.insert(kAlwaysOn);
  for (const RecordOption& option : RecordOptions()) {
    if (option.kind == OptionKind::kFlag) flags.insert(option.flag);
  }
  return flags;
}

void AddOptions(CLI::App& app, EnvironmentVariables& given) {
  app.add_flag_callback(
      kAlwaysOn, [&given] { given.try_emplace("MEMOIR_DETAIL", "auto"); },
      "the same as --detail auto, for jobs that run for days");
  for (const RecordOption& option : RecordOptions()) {
    if (*option.flag == '\0') continue;
    std::string names = option.flag;
    if (names == "--output") names = "-o,--output";
    if (names == "--quiet") names = "-q,--quiet";
    std::string help = option.help;
    if (*option.fallback != '\0') help += fmt::format(" [{}]", option.fallback);
    if (option.kind == OptionKind::kFlag) {
      app.add_flag_callback(names, [&given, &option] { given[option.variable] = "1"; }, help);
    } else {
      app.add_option_function<std::string>(
          names, [&given, &option](const std::string& value) { given[option.variable] = value; }, help);
    }
  }
}

// Reads each option from the command line, or otherwise from the environment. Returns an exit code if a value is
// invalid, so that nothing starts.
std::optional<int> ResolveOptions(const EnvironmentVariables& given, EnvironmentVariables& resolved) {
  for (const RecordOption& option : RecordOptions()) {
    const auto found = given.find(option.variable);
    const char* inherited = std::getenv(option.variable);
    const bool from_option = found != given.end();
    if (!from_option && (inherited == nullptr || *inherited == '\0')) continue;
    const std::string value = from_option ? found->second : inherited;
    const auto normal = NormalizeOption(option, from_option ? option.flag : option.variable, value);
    if (!normal.ok()) return FailUsage("run", std::string(normal.status().message()));
    resolved[option.variable] = *normal;
  }
  return std::nullopt;
}

Attachment AttachmentFor(const EnvironmentVariables& variables) {
  const InstallTree tree = FindInstallTree();
  Attachment attachment = AttachmentOf(tree);
  if (variables.contains("MEMOIR_SIM_GPU")) AddSimulation(tree, attachment);
  return attachment;
}

// The result of the command. After ^C while the summary is made, LeaveNow() ends this process in the same way as the
// command ended.
ChildResult command_ended;
void LeaveNow(int) {
  DieBySignal(command_ended.signal);
  _exit(command_ended.exit_code);
}

void ProtectEnd(const ChildResult& result) {
  command_ended = result;
  std::signal(SIGINT, LeaveNow);
  std::signal(SIGTERM, LeaveNow);
  std::signal(SIGPIPE, SIG_IGN);  // standard error may have been closed with the terminal
}

// Ends this process in the same way as the command ended.
int EndAs(const ChildResult& result) {
  DieBySignal(result.signal);
  return result.exit_code;
}

int RunUnrecorded(const Strings& command) {
  const ChildResult result = RunChild(command, CurrentEnvironment());
  return result.start_error != 0 ? ReportStartFailure(command, result.start_error) : EndAs(result);
}

bool IsQuiet(const EnvironmentVariables& variables) {
  const auto given = variables.find("MEMOIR_QUIET");
  return given != variables.end() && given->second == "1";
}

std::string OutputOf(const EnvironmentVariables& variables) {
  const auto given = variables.find("MEMOIR_OUTPUT");
  return given == variables.end() ? AbsoluteOrGivenPath(DefaultOutputFolder()) : given->second;
}

// Returns a name for this run, unique on all hosts. The name contains the launcher's name of the job, so that readers
// can distinguish two jobs in one folder: "slurm-71.4/node1-4711-1700000000000000000". A nested `memoir run` uses the
// name of the outer `memoir run`.
std::string NameOfRun() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::string job = NameOfLaunchersJob();
  return fmt::format("{}{}{}-{}-{}", job, job.empty() ? "" : "/", NameOfThisHost(), getpid(),
                     std::chrono::nanoseconds(now).count());
}

// If `command` starts a launcher, simulates one GPU for each process of the launcher, because each process expects its
// own GPU.
void AddDevicesFor(const Strings& command, EnvironmentVariables& variables) {
  if (!variables.contains("MEMOIR_SIM_GPU") || variables.contains("MEMOIR_SIM_WORLD")) return;
  if (const auto processes = LaunchedProcesses(command); processes && *processes <= kMostSimulatedDevices)
    variables.try_emplace("MEMOIR_SIM_DEVICES", std::to_string(*processes));
}

std::string MissingDevices(const EnvironmentVariables& variables, std::uint32_t wanted) {
  const auto given = variables.find("MEMOIR_SIM_DEVICES");
  const std::string simulated = given == variables.end() || given->second == "1" ? "1 was" : given->second + " were";
  return fmt::format("the program needs {0} GPUs, but {1} simulated; add --sim-devices {0} to memoir run", wanted,
                     simulated);
}

CommandEnd EndOf(const ChildResult& result) {
  return {.pid = static_cast<std::uint64_t>(result.pid),
          .exit_code = result.exit_code,
          .signal = result.signal,
          .interrupts = result.interrupts};
}

int RunRecorded(const Strings& command, EnvironmentVariables variables, std::uint32_t summary_every) {
  // In the default folder of a job, existing parts belong to other ranks of the job.
  const bool others_may_be_there = !variables.contains("MEMOIR_OUTPUT") && HasRankOfLauncher();
  OutputFolder folder(OutputOf(variables));
  const bool is_reporting = IsReportingProcess(variables);
  const bool quiet = IsQuiet(variables) || !is_reporting;
  if (const absl::Status status = folder.Prepare(); !status.ok()) {
    PrintMessage(std::string(status.message()) + ". The command runs unrecorded");
    return RunUnrecorded(command);
  }
  if (folder.had_parts() && !others_may_be_there && !quiet)
    PrintMessage(folder.path() + " already holds a capture; this recording is added to it");
  variables["MEMOIR_OUTPUT"] = variables["MEMOIR_NOTES"] = folder.path();
  const char* const around = std::getenv("MEMOIR_RUN");
  const std::string run = around == nullptr || *around == '\0' ? NameOfRun() : around;
  variables["MEMOIR_RUN"] = run;
  const InstallTree tree = FindInstallTree();
  AddAttachment(variables, AttachmentFor(variables));
  const ChildResult result = [&] {
    const RunningSummaries summaries(folder.path(), run, summary_every);
    return RunChild(command, EnvironmentWith(variables));
  }();
  if (result.start_error != 0) {
    folder.RemoveIfEmpty();
    return ReportStartFailure(command, result.start_error);
  }
  ProtectEnd(result);
  if (folder.WasRemoved()) {
    if (is_reporting)
      PrintMessage("nothing is left of the recording: " + folder.path() + " was removed while the command ran");
    return EndAs(result);
  }
  if (!folder.HasNewParts()) MergeRingsOf(folder.path(), tree);
  const std::uint32_t wanted_devices = folder.TakeMissingDevices();
  const bool said = folder.TakeNotes([](const std::string& cause) { PrintMessage("not recording: " + cause); });
  if (folder.HasNewParts()) {
    FinishRecording(folder.path(), EndOf(result), quiet, summary_every > 0);
  } else {
    folder.RemoveIfEmpty();
    if (!said && is_reporting) PrintMessage(WhyNothingRecorded(command, result.signal, tree));
  }
  if (wanted_devices > 0 && result.exit_code != 0) PrintMessage(MissingDevices(variables, wanted_devices));
  return EndAs(result);
}

std::size_t GivenWindows(const EnvironmentVariables& variables) {
  return variables.count("MEMOIR_STEPS") + variables.count("MEMOIR_RANGE") + variables.count("MEMOIR_SCHEDULE");
}

int PrintEnvironment(EnvironmentVariables variables, const std::string& format) {
  variables["MEMOIR_OUTPUT"] = OutputOf(variables);
  variables.erase("MEMOIR_NOTES");  // set by an outer `memoir run`, which would not remove these notes
  const Attachment attachment = AttachmentFor(variables);
  return WriteOutput(format == "json" ? AsJson(variables, attachment) : AsShell(variables, attachment));
}

}  // namespace

int RunVerb(const std::vector<std::string>& arguments) {
  const SplitArguments split = SplitAtCommand(arguments, FlagsWithoutValue());
  const auto app = MakeArguments(kHelp);
  EnvironmentVariables given, variables;
  AddOptions(*app, given);
  std::string print_env;
  app->add_option("--print-env", print_env,
                  "print the variables that attach Memoir, as `export` lines or as JSON (=json), and run nothing")
      ->expected(0, 1)
      ->check(CLI::IsMember({"shell", "json"}));
  std::optional<std::uint32_t> summary_every;
  AddNumber(
      *app, kSummaryEvery, summary_every,
      "SECONDS: while COMMAND runs, keep a summary of each of its ranks next to the recording, written again this "
      "often, with at most 2% of one core on average (docs/ranks.md)");
  if (const auto code = ParseArguments(*app, "run", split.options)) return *code;
  const bool prints = app->count("--print-env") > 0;
  if (summary_every == 0u) return FailUsage("run", "--summary-every 0: expected seconds, at least 1");
  if (prints && summary_every)
    return FailUsage("run", "--print-env runs nothing; let memoir summarize --every 10 --own run beside the ranks");
  if (prints && !split.command.empty()) return FailUsage("run", "--print-env runs no command; leave one of them out");
  if (!prints && split.command.empty())
    return FailUsage("run", "no command to run: memoir run [OPTIONS] -- COMMAND...");
  if (const auto code = ResolveOptions(given, variables)) return *code;
  if (GivenWindows(variables) > 1)
    return FailUsage("run", "--steps, --range and --schedule are different windows; give one of them");
  if (const auto detail = variables.find("MEMOIR_DETAIL");
      detail != variables.end() && detail->second == "auto" && GivenWindows(variables) > 0)
    return FailUsage("run",
                     "--detail auto chooses the steps in which operators are recorded; leave out --steps, "
                     "--range and --schedule");
  if (const absl::Status status = CheckSimulation(FindInstallTree(), variables); !status.ok()) {
    if (absl::IsInvalidArgument(status)) return FailUsage("run", std::string(status.message()));
    return Fail(status);
  }
  AddDevicesFor(split.command, variables);
  if (IsReportingProcess(variables) && !IsQuiet(variables)) {
    for (const std::string& line : UnknownVariables(CurrentEnvironment())) PrintMessage(line);
  }
  if (prints) return PrintEnvironment(std::move(variables), print_env);
  return RunRecorded(split.command, std::move(variables), summary_every.value_or(0));
}

}  // namespace memoir
