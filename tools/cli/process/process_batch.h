// Runs several commands, a limited number at once, each with its output in a file. `memoir fit` uses it for many cards
// or values.
//
// Not thread-safe: signal handlers apply to the whole process.
#ifndef TOOLS_CLI_PROCESS_PROCESS_BATCH_H_
#define TOOLS_CLI_PROCESS_PROCESS_BATCH_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tools/cli/process/child_process.h"

namespace memoir {

struct BatchCommand {
  std::vector<std::string> command;
  std::vector<std::string> environment;  // the whole environment
  std::string output;                    // file for standard output and error; standard input is empty
};

struct BatchResult {
  std::vector<ChildResult> results;  // in the order of the commands
  int interrupted = 0;               // the signal that ended the batch and its commands early (^C, kill); 0: no signal
};

// Calls `progress` several times a second with the numbers of ended and running commands. Children die with this
// process.
BatchResult RunBatch(const std::vector<BatchCommand>& commands, std::size_t at_once,
                     const std::function<void(std::size_t ended, std::size_t running)>& progress);

}  // namespace memoir

#endif  // TOOLS_CLI_PROCESS_PROCESS_BATCH_H_
