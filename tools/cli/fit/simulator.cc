#include "tools/cli/fit/simulator.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

#include "fmt/format.h"
#include "tools/cli/attach/environment.h"
#include "tools/cli/attach/ring_merge.h"
#include "tools/cli/attach/start_failure.h"
#include "tools/cli/process/output_folder.h"
#include "tools/cli/process/private_folder.h"
#include "tools/cli/process/process_batch.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/cli/terminal/progress_line.h"
#include "tools/read/simulation_report.h"
#include "tools/view/terminal/terminal.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

namespace fs = std::filesystem;

// A line on the terminal of standard error that is rewritten each second and removed at the end.
class RunningLine {
 public:
  RunningLine(std::string what, std::size_t runs)
      : what_(std::move(what)), runs_(runs), interactive_(DetectTerminal(STDERR_FILENO).interactive) {}
  ~RunningLine() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
  }
  RunningLine(const RunningLine&) = delete;
  RunningLine& operator=(const RunningLine&) = delete;

  void Show(std::size_t ended, std::size_t running) {
    const auto now = std::chrono::steady_clock::now();
    if (!interactive_ || now < next_) return;
    next_ = now + std::chrono::seconds(1);
    shown_ = true;
    const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(now - begin_).count();
    const std::string line = fmt::format("\r\x1b[Kmemoir: {}: {} of {} runs done, {} running, {}", what_, ended, runs_,
                                         running, FormatDuration(static_cast<std::uint64_t>(nanoseconds)));
    std::fwrite(line.data(), 1, line.size(), stderr);
  }

 private:
  const std::string what_;
  const std::size_t runs_;
  const bool interactive_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point next_ = begin_ + std::chrono::seconds(1);
  bool shown_ = false;
};

// While an object of this class exists, standard output is redirected to standard error.
class OutputToError {
 public:
  explicit OutputToError(bool active) : kept_(active ? dup(STDOUT_FILENO) : -1) {
    if (kept_ >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  ~OutputToError() {
    if (kept_ >= 0) dup2(kept_, STDOUT_FILENO);
    if (kept_ >= 0) close(kept_);
  }
  OutputToError(const OutputToError&) = delete;
  OutputToError& operator=(const OutputToError&) = delete;

 private:
  const int kept_;
};

std::size_t Cores() { return std::max(1u, std::thread::hardware_concurrency()); }

}  // namespace

Simulator::Simulator(const FitOptions& options) : options_(options), tree_(FindInstallTree()) {}

Simulator::~Simulator() {
  std::error_code ignored;
  if (!work_.empty()) fs::remove_all(work_, ignored);
}

absl::Status Simulator::Prepare() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  std::string name = ((error ? fs::path("/tmp") : parent) / "memoir-fit-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    return absl::FailedPreconditionError(
        fmt::format("cannot make a folder {} ({}); set TMPDIR to a folder with room", name, std::strerror(errno)));
  }
  work_ = name;
  if (options_.output.empty()) return absl::OkStatus();
  OutputFolder folder(options_.output);
  return folder.Prepare();
}

EnvironmentVariables Simulator::VariablesOf(const Simulation& simulation) const {
  const fs::path folder = FolderOf(simulation);
  EnvironmentVariables variables = {
      {"MEMOIR_SIM_GPU", simulation.card}, {"MEMOIR_SIM_REPORT", (folder / "report").string()}, {"MEMOIR_QUIET", "1"}};
  if (!simulation.memory.empty()) variables["MEMOIR_SIM_MEMORY"] = simulation.memory;
  if (!options_.profiles.empty()) variables["MEMOIR_SIM_PROFILES"] = fs::absolute(options_.profiles).string();
  if (!options_.addresses.empty()) variables["MEMOIR_SIM_ADDRESSES"] = options_.addresses;
  if (options_.devices) variables["MEMOIR_SIM_DEVICES"] = std::to_string(*options_.devices);
  if (options_.world) variables["MEMOIR_SIM_WORLD"] = std::to_string(*options_.world);
  if (options_.rank) variables["MEMOIR_SIM_RANK"] = std::to_string(*options_.rank);
  if (simulation.takes_most) variables["MEMOIR_SIM_UNKNOWN"] = "most";
  if (simulation.at_once) variables["MEMOIR_SIM_LATE"] = "0";
  variables["MEMOIR_OUTPUT"] = RecordingOf(simulation).string();
  Attachment attachment = AttachmentOf(tree_);
  AddSimulation(tree_, attachment);
  AddAttachment(variables, attachment);
  // Errors are ignored here, because the first write into the folders reports them.
  (void)MakePrivateFolders(folder / "report");
  (void)MakePrivateFolders(variables["MEMOIR_OUTPUT"]);
  return variables;
}

FitRun Simulator::RunHere(const Simulation& simulation, ChildResult& result) {
  {
    std::fflush(stdout);
    const OutputToError redirected(options_.json);
    constexpr int kPatience = 3;
    result = RunChild(simulation.command, EnvironmentWith(VariablesOf(simulation)), kPatience);
  }
  return result.start_error == 0 ? ReadRun(simulation, result) : FitRun();
}

std::optional<std::vector<FitRun>> Simulator::RunAll(const std::vector<Simulation>& simulations,
                                                     const std::string& what) {
  std::vector<BatchCommand> commands;
  for (const Simulation& simulation : simulations) {
    const EnvironmentVariables variables = VariablesOf(simulation);
    const fs::path folder = simulation.keep.empty() ? FolderOf(simulation) : fs::path(simulation.keep);
    outputs_[simulation.name] = folder / "output.txt";
    commands.push_back({simulation.command, EnvironmentWith(variables), outputs_[simulation.name].string()});
  }
  BatchResult batch;
  {
    RunningLine line(what, commands.size());
    batch = RunBatch(commands, Cores(), [&](std::size_t ended, std::size_t running) { line.Show(ended, running); });
  }
  if (batch.interrupted != 0) {
    PrintMessage("interrupted: no answer");
    exit_code_ = 128 + batch.interrupted;
    return std::nullopt;
  }
  std::vector<FitRun> runs;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (batch.results[i].start_error != 0) {
      exit_code_ = ReportStartFailure(commands[i].command, batch.results[i].start_error);
      return std::nullopt;
    }
    runs.push_back(ReadRun(simulations[i], batch.results[i]));
  }
  return runs;
}

FitRun Simulator::ReadRun(const Simulation& simulation, const ChildResult& result) {
  FitRun run;
  run.exit_code = result.exit_code;
  run.signal = result.signal;
  run.interrupted = result.interrupts > 0 || result.signal == SIGINT;
  const std::string report = (FolderOf(simulation) / "report").string();
  run.processes = ReadSimulationReports(report);
  run.recording = ReadRecording(simulation, run);
  const SimulationUnknowns unknowns = ReadSimulationUnknowns(report);
  run.unknown_shapes = unknowns.shapes;
  run.unknown_numbers = unknowns.numbers;
  return run;
}

// Returns the figures that a run's recording contains. Returns nullopt if there is no recording, and prints the reason
// once. The answer then contains only the figures of the simulated device.
std::optional<FitRecording> Simulator::ReadRecording(const Simulation& simulation, const FitRun& run) {
  const auto deciding = DecidingDeviceOf(run);
  const std::string path = simulation.keep.empty() ? (FolderOf(simulation) / "capture").string() : simulation.keep;
  OutputFolder folder(path);
  folder.TakeNotes([this](const std::string& cause) { PrintOnce("torch's own figures are missing: " + cause); });
  if (!deciding) return std::nullopt;
  const auto capture = OpenMerged(path, [this](const std::string& line) { PrintOnce(line); }, kAllRuns);
  if (!capture.ok()) return std::nullopt;
  ProgressLine progress("reading the recording");
  auto recording = AnalyzeFitRecording(*capture, deciding->pid, deciding->device.ordinal, progress.callback());
  if (!recording.ok()) {
    PrintOnce(std::string(recording.status().message()));
    return std::nullopt;
  }
  return *std::move(recording);
}

void Simulator::PrintOnce(const std::string& line) {
  if (std::ranges::find(said_, line) != said_.end()) return;
  said_.push_back(line);
  PrintMessage(line);
}

std::string Simulator::EndOfOutput(const std::string& name) const {
  constexpr std::streamoff kMost = 300;
  const auto output = outputs_.find(name);
  if (output == outputs_.end()) return "";
  std::ifstream file(output->second, std::ios::binary | std::ios::ate);
  if (!file) return "";
  const std::streamoff size = file.tellg();
  file.seekg(size > kMost ? size - kMost : 0);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  text.erase(text.find_last_not_of("\r\n ") + 1);
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace memoir
