// The checks of `memoir doctor`, one for each condition of a recording on this machine. The checks change nothing,
// except that they create and remove a probe file.
#ifndef TOOLS_CLI_DOCTOR_DOCTOR_CHECKS_H_
#define TOOLS_CLI_DOCTOR_DOCTOR_CHECKS_H_

#include <string>
#include <vector>

#include "tools/cli/installed/install_tree.h"

namespace memoir {

struct DoctorCheck {
  enum class Level { kFine, kNote, kWrong };  // kNote: recording works, with a limitation
  Level level = Level::kFine;
  std::string subject;  // "torch"
  std::string finding;  // the state found
  std::string fix;      // the remedy; only for kNote and kWrong
};

std::vector<DoctorCheck> CheckInstallation(const InstallTree& tree);
// Checks the interpreter `python`, its torch, and whether this installation can record it.
std::vector<DoctorCheck> CheckPython(const InstallTree& tree, const std::string& python);
// Checks MEMOIR_* and other variables that change the recording.
std::vector<DoctorCheck> CheckEnvironment();
// Checks the ring folder, the output folder (`output`, which need not exist) and the kernel.
std::vector<DoctorCheck> CheckSystem(const std::string& output);

}  // namespace memoir

#endif  // TOOLS_CLI_DOCTOR_DOCTOR_CHECKS_H_
