// What `memoir doctor` looks at: one check per thing that decides what will be recorded here. No check changes anything
// but for a probe file that it removes.
#ifndef TOOLS_CLI_DOCTOR_CHECKS_H_
#define TOOLS_CLI_DOCTOR_CHECKS_H_

#include <string>
#include <vector>

#include "tools/cli/installed/install_tree.h"

namespace memoir {

struct Check {
  enum class Level { kFine, kNote, kWrong };  // kNote: recording works, with a limit worth knowing
  Level level = Level::kFine;
  std::string subject;  // "torch"
  std::string finding;  // what is so
  std::string fix;      // what to do; only for kNote and kWrong
};

std::vector<Check> CheckInstallation(const InstallTree& tree);
// Interpreter `python`, its torch, and whether this installation records it.
std::vector<Check> CheckPython(const InstallTree& tree, const std::string& python);
// MEMOIR_* and other variables that change what happens.
std::vector<Check> CheckEnvironment();
// Ring folder, output folder (`output`: a path that need not exist), kernel.
std::vector<Check> CheckSystem(const std::string& output);

}  // namespace memoir

#endif  // TOOLS_CLI_DOCTOR_CHECKS_H_
