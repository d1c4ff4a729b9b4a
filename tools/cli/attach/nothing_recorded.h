// Finds the reason why a command under `memoir run` wrote no recording, and the remedy.
#ifndef TOOLS_CLI_ATTACH_NOTHING_RECORDED_H_
#define TOOLS_CLI_ATTACH_NOTHING_RECORDED_H_

#include <string>
#include <vector>

#include "tools/cli/installed/install_tree.h"

namespace memoir {

// Returns one line with the cause and the remedy, as far as the command and its environment show them. May start the
// command's Python interpreter, to examine it. `signal`: the signal that ended the command; 0 if the command ended
// without a signal.
std::string WhyNothingRecorded(const std::vector<std::string>& command, int signal, const InstallTree& tree);

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_NOTHING_RECORDED_H_
