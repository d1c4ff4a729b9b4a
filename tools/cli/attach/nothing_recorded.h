// Why a command that ran under `memoir run` left nothing, and what to do.
#ifndef TOOLS_CLI_ATTACH_NOTHING_RECORDED_H_
#define TOOLS_CLI_ATTACH_NOTHING_RECORDED_H_

#include <string>
#include <vector>

#include "tools/cli/installed/install_tree.h"

namespace memoir {

// One line: cause and fix, as far as they can be told from outside. May start the command's interpreter for a moment.
// `signal`: that ended the command, or 0.
std::string WhyNothingRecorded(const std::vector<std::string>& command, int signal, const InstallTree& tree);

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_NOTHING_RECORDED_H_
