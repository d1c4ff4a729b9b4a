// Runs a command on a simulated card, records it, and reads what became of it.
//
// What a run leaves lies in a folder of its own below $TMPDIR, which goes with the Simulator, but for what -o keeps.
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
  std::string name;  // of its folder, unique: "h100"
  std::string card;
  std::string memory;  // bytes; "": the card's
  std::vector<std::string> command;
  bool takes_most = false;  // shapes that depend on values which the device did not compute are the largest possible
  bool at_once = false;     // the device's work is complete at once, not some launches later
  std::string keep = "";    // folder for the recording; "": it is not kept
};

class Simulator {
 public:
  explicit Simulator(const FitOptions& options);
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  absl::Status Prepare();

  // With our standard streams, as `memoir run` does; with --json, standard output goes to standard error. A third ^C
  // kills what the first two did not end.
  FitRun RunHere(const Simulation& simulation, ChildResult& result);
  // With output in files; nothing where that was interrupted or could not be started, which was said: then leave with
  // exit_code(). `what` is for the line of progress.
  std::optional<std::vector<FitRun>> RunAll(const std::vector<Simulation>& simulations, const std::string& what);
  int exit_code() const { return exit_code_; }

  // A line on standard error, unless it was said before.
  void SayOnce(const std::string& line);

  // The last line of what a run of RunAll wrote.
  std::string EndOfOutput(const std::string& name) const;

 private:
  std::filesystem::path FolderOf(const Simulation& simulation) const { return work_ / simulation.name; }
  std::filesystem::path RecordingOf(const Simulation& simulation) const {
    return simulation.keep.empty() ? FolderOf(simulation) / "capture" : std::filesystem::path(simulation.keep);
  }
  Variables VariablesOf(const Simulation& simulation) const;
  FitRun ReadRun(const Simulation& simulation, const ChildResult& result);
  std::optional<FitRecording> ReadRecording(const Simulation& simulation, const FitRun& run);

  const FitOptions& options_;
  const InstallTree tree_;
  std::filesystem::path work_;
  std::map<std::string, std::filesystem::path> outputs_;  // by the simulation's name
  std::vector<std::string> said_;
  int exit_code_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_CLI_FIT_SIMULATOR_H_
