// The variables that the launcher of a job (torchrun, srun, mpirun) sets for this process. The tracker uses the same
// table of variables, proto/memoir/launchers.def, in tracker/session/process/rank.h and default_output.h. A test
// compares the results of the tracker with the results of this file.
#ifndef TOOLS_CLI_ATTACH_LAUNCHER_H_
#define TOOLS_CLI_ATTACH_LAUNCHER_H_

#include <map>
#include <string>

namespace memoir {

// The options of a recording: their values, by the names of their variables ("MEMOIR_RANK"). An option takes precedence
// over a variable of the environment.
using EnvironmentVariables = std::map<std::string, std::string>;

// Returns true for rank 0, the only process of a job that prints messages. For example, `srun memoir run -- python
// train.py` starts Memoir once for each rank. `given`: the options of `memoir run`.
bool IsReportingProcess(const EnvironmentVariables& given);

// Returns true if a launcher started this process as a rank of a job.
bool HasRankOfLauncher();

// Returns the launcher's name for the job, such as "slurm-71.4", which is the same in each of the job's processes. ""
// if the name is unknown. Different jobs have different names, except for jobs of torchrun with the same --rdzv-id.
std::string NameOfLaunchersJob();

// Returns the default folder for a capture: memoir-DATE-TIME in the working folder. If this folder exists, the name
// ends with "-2", and so on. The processes of a job share one folder: memoir-slurm-JOB.STEP, or memoir-DATE-TIME with
// the time at which their launcher started. The name of a job's folder ends with "-2" only if the folder without "-2"
// contains an earlier recording of this rank.
std::string DefaultOutputFolder();

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_LAUNCHER_H_
