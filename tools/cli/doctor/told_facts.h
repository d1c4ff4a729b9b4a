// What a capture tells of environment, arguments and host: the whole list of docs/security.md, with what is there now.
#ifndef TOOLS_CLI_DOCTOR_TOLD_FACTS_H_
#define TOOLS_CLI_DOCTOR_TOLD_FACTS_H_

#include <vector>

#include "tools/cli/doctor/checks.h"

namespace memoir {

std::vector<Check> CheckWhatIsTold();

}  // namespace memoir

#endif  // TOOLS_CLI_DOCTOR_TOLD_FACTS_H_
