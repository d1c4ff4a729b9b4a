// Several commands, so many at once, each with its output in a file: what `memoir fit` does where a script runs on
// many cards or with many values.
//
// Not thread-safe: signal dispositions belong to the process, and every child that ends is waited for.
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
  std::vector<std::string> environment;  // all of it
  std::string output;                    // file for standard output and error; standard input is empty
};

struct BatchResult {
  std::vector<ChildResult> results;  // as the commands
  int interrupted = 0;               // the signal that ended the batch early (^C, kill); then what ran was ended too
};

// `progress` is called some times a second with how many have ended and how many run. Children die with us.
BatchResult RunBatch(const std::vector<BatchCommand>& commands, std::size_t at_once,
                     const std::function<void(std::size_t ended, std::size_t running)>& progress);

}  // namespace memoir

#endif  // TOOLS_CLI_PROCESS_PROCESS_BATCH_H_
