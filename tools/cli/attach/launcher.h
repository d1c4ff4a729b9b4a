// The variables that the launcher of a job (torchrun, srun, mpirun) sets for this process. The recorder uses the same
// table (proto/memoir/launchers.def, tracker/session/process/rank.h, default_output.h); one test compares the two.
#ifndef TOOLS_CLI_ATTACH_LAUNCHER_H_
#define TOOLS_CLI_ATTACH_LAUNCHER_H_

#include <map>
#include <string>

namespace memoir {

// Options of the recording by the names of their variables. They take precedence over the environment.
using EnvironmentVariables = std::map<std::string, std::string>;

// `srun memoir run -- python train.py` starts Memoir once for each rank. Returns true for rank 0, the only one that
// prints.
bool IsReportingProcess(const EnvironmentVariables& given);

// Returns true if a launcher started this process as a rank of a job.
bool HasRankOfLauncher();

// The launcher's name for the job, such as "slurm-71.4", the same in each of its processes; "" if unknown. Other jobs
// have other names, except for torchrun, whose name is the value of --rdzv-id.
std::string NameOfLaunchersJob();

// The default folder for a capture: memoir-DATE-TIME in the working folder, with "-2" and so on if it exists. Processes
// of a job share one: memoir-slurm-JOB.STEP, or the time at which their launcher started, with "-2" if it contains an
// earlier capture of this rank.
std::string DefaultOutputFolder();

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_LAUNCHER_H_
