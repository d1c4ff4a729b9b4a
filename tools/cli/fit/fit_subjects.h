// One card with one command, and all the runs that it takes to answer for it: on the card; where what is needed depends
// on something unknown, with the assumption that needs most; where it does not fit, without the card's limit.
#ifndef TOOLS_CLI_FIT_FIT_SUBJECTS_H_
#define TOOLS_CLI_FIT_FIT_SUBJECTS_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/analyze/fit/fit.h"
#include "tools/cli/fit/fit_options.h"
#include "tools/cli/fit/simulator.h"
#include "tools/cli/process/child_process.h"

namespace memoir {

struct FitSubject {
  std::string name;  // "h100", "BATCH-64"; unique
  SimulatedCard card;
  std::vector<std::string> command;
};

class FitSubjects {
 public:
  FitSubjects(const FitOptions& options, Simulator& simulator) : options_(options), simulator_(simulator) {}

  // The first run of one, with our streams.
  FitCard RunHere(const FitSubject& subject, ChildResult& result);
  // The first run of each, with output in files. Nothing: leave with the simulator's exit code.
  std::optional<std::vector<FitCard>> Run(const std::vector<FitSubject>& subjects, const std::string& what);
  // Those with the assumptions that need least and most. False: leave with the simulator's exit code.
  bool RunBounds(const std::vector<FitSubject>& subjects, std::vector<FitCard>& cards);
  // Those without the card's limit. Likewise.
  bool LearnNeeds(const std::vector<FitSubject>& subjects, std::vector<FitCard>& cards);

 private:
  Simulation SimulationOf(const FitSubject& subject) const;

  const FitOptions& options_;
  Simulator& simulator_;
};

}  // namespace memoir

#endif  // TOOLS_CLI_FIT_FIT_SUBJECTS_H_
