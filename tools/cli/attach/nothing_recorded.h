// The reason why a command under `memoir run` left no recording, and the remedy.
#ifndef TOOLS_CLI_ATTACH_NOTHING_RECORDED_H_
#define TOOLS_CLI_ATTACH_NOTHING_RECORDED_H_

#include <string>
#include <vector>

#include "tools/cli/installed/install_tree.h"

namespace memoir {

// Returns one line with cause and fix, as far as they can be known from outside. May start the command's interpreter
// for a moment. `signal`: the signal that ended the command; 0: it ended without a signal.
std::string WhyNothingRecorded(const std::vector<std::string>& command, int signal, const InstallTree& tree);

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_NOTHING_RECORDED_H_
