// The checks of `memoir doctor` that list the facts about the environment, the arguments and the host that a capture
// contains. The list is the same as in docs/security.md, with the current values.
#ifndef TOOLS_CLI_DOCTOR_RECORDED_FACTS_H_
#define TOOLS_CLI_DOCTOR_RECORDED_FACTS_H_

#include <vector>

#include "tools/cli/doctor/doctor_checks.h"

namespace memoir {

std::vector<DoctorCheck> CheckRecordedFacts();

}  // namespace memoir

#endif  // TOOLS_CLI_DOCTOR_RECORDED_FACTS_H_
