// Runs the subjects of `memoir fit`. A subject is one command on one simulated card. First it runs on the card. If the
// memory that it needs depends on something unknown, it runs again with the assumption that needs most. If it does not
// fit, it runs again without the card's limit.
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

  // Runs one subject for the first time, with this process's standard input, output and error.
  FitCard RunHere(const FitSubject& subject, ChildResult& result);
  // Runs each subject for the first time, with output in files. nullopt if the program must exit with the simulator's
  // exit code.
  std::optional<std::vector<FitCard>> Run(const std::vector<FitSubject>& subjects, const std::string& what);
  // If the memory of a subject depends on an assumption, runs the subject again to find the least and the most memory
  // that it may need. Returns false if the program must exit with the simulator's exit code.
  bool RunBounds(const std::vector<FitSubject>& subjects, std::vector<FitCard>& cards);
  // If a subject does not fit, runs it again without the card's limit. Returns false as RunBounds() does.
  bool LearnNeeds(const std::vector<FitSubject>& subjects, std::vector<FitCard>& cards);

 private:
  Simulation SimulationOf(const FitSubject& subject) const;

  const FitOptions& options_;
  Simulator& simulator_;
};

}  // namespace memoir

#endif  // TOOLS_CLI_FIT_FIT_SUBJECTS_H_
