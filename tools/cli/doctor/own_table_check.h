// The check of `memoir doctor` that Memoir's open files are separate from the program's (interpose/system/own_files.h).
#ifndef TOOLS_CLI_DOCTOR_OWN_TABLE_CHECK_H_
#define TOOLS_CLI_DOCTOR_OWN_TABLE_CHECK_H_

#include "tools/cli/doctor/doctor_checks.h"

namespace memoir {

// Tests this on a thread of this process, which has the same kernel and sandbox as the program.
DoctorCheck CheckOwnTable();

}  // namespace memoir

#endif  // TOOLS_CLI_DOCTOR_OWN_TABLE_CHECK_H_
