// The facts about environment, arguments and host that a capture contains: the complete list of docs/security.md, with
// the current values.
#ifndef TOOLS_CLI_DOCTOR_RECORDED_FACTS_H_
#define TOOLS_CLI_DOCTOR_RECORDED_FACTS_H_

#include <vector>

#include "tools/cli/doctor/doctor_checks.h"

namespace memoir {

std::vector<DoctorCheck> CheckRecordedFacts();

}  // namespace memoir

#endif  // TOOLS_CLI_DOCTOR_RECORDED_FACTS_H_
