// Runs a command on a simulated card, records it, and reads the result.
//
// The files of a run lie in a separate folder below $TMPDIR, which is removed with the Simulator, except for captures
// that -o keeps.
#ifndef TOOLS_CLI_FIT_SIMULATOR_H_
#define TOOLS_CLI_FIT_SIMULATOR_H_

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/analyze/fit/fit.h"
#include "tools/cli/attach/attachment.h"
#include "tools/cli/fit/fit_options.h"
#include "tools/cli/installed/install_tree.h"
#include "tools/cli/process/child_process.h"

namespace memoir {

struct Simulation {
  std::string name;  // unique; names the folder of the run: "h100"
  std::string card;
  std::string memory;  // bytes; "": the memory in the card's profile
  std::vector<std::string> command;
  // The assumption for shapes that depend on values that were not computed. True: the largest possible shapes; false:
  // the smallest possible shapes.
  bool takes_most = false;
  bool at_once = false;   // true: the device completes its work at once; false: some launches later
  std::string keep = "";  // folder for the recording; "": the recording is not kept
};

class Simulator {
 public:
  explicit Simulator(const FitOptions& options);
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  // Creates the folder for the files of the runs. Call it before the first run.
  absl::Status Prepare();

  // Runs the command with this process's standard input, output and error, as `memoir run` does. With --json, the
  // command's standard output is redirected to standard error. A third ^C kills the command if the first two did not
  // end it.
  FitRun RunHere(const Simulation& simulation, ChildResult& result);
  // Runs the commands with their output in files. After an interruption or a failed start, prints the reason and
  // returns nullopt; the program must then exit with exit_code(). `what`: the text of the progress line.
  std::optional<std::vector<FitRun>> RunAll(const std::vector<Simulation>& simulations, const std::string& what);
  int exit_code() const { return exit_code_; }

  // Prints a line on standard error, unless it was printed before.
  void PrintOnce(const std::string& line);

  // Returns the last line of output of a run of RunAll().
  std::string EndOfOutput(const std::string& name) const;

 private:
  std::filesystem::path FolderOf(const Simulation& simulation) const { return work_ / simulation.name; }
  std::filesystem::path RecordingOf(const Simulation& simulation) const {
    return simulation.keep.empty() ? FolderOf(simulation) / "capture" : std::filesystem::path(simulation.keep);
  }
  EnvironmentVariables VariablesOf(const Simulation& simulation) const;
  FitRun ReadRun(const Simulation& simulation, const ChildResult& result);
  std::optional<FitRecording> ReadRecording(const Simulation& simulation, const FitRun& run);

  const FitOptions& options_;
  const InstallTree tree_;
  std::filesystem::path work_;
  std::map<std::string, std::filesystem::path> outputs_;  // by the name of the simulation
  std::vector<std::string> said_;
  int exit_code_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_CLI_FIT_SIMULATOR_H_
