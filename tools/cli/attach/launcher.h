// The variables that the launcher of a job (torchrun, srun, mpirun) sets for this process. The recorder uses the same
// table (proto/memoir/launchers.def, tracker/session/process/rank.h, default_output.h); one test compares the two.
#ifndef TOOLS_CLI_ATTACH_LAUNCHER_H_
#define TOOLS_CLI_ATTACH_LAUNCHER_H_

#include <map>
#include <string>

namespace memoir {

// Options of the recording by the names of their variables. They take precedence over the environment.
using EnvironmentVariables = std::map<std::string, std::string>;

// Returns true for rank 0, the only process of a job that prints messages. For example, `srun memoir run -- python
// train.py` starts Memoir once for each rank. `given`: the options' variables.
bool IsReportingProcess(const EnvironmentVariables& given);

// Returns true if a launcher started this process as a rank of a job.
bool HasRankOfLauncher();

// Returns the launcher's name for the job, such as "slurm-71.4", which is the same in each of the job's processes. ""
// if the name is unknown. Different jobs have different names, except for jobs of torchrun with the same --rdzv-id.
std::string NameOfLaunchersJob();

// Returns the default folder for a capture: memoir-DATE-TIME in the working folder, with "-2" and so on if it exists.
// The processes of a job share one folder: memoir-slurm-JOB.STEP, or memoir-DATE-TIME with the time at which their
// launcher started. Its name ends with "-2" if the first folder contains an earlier capture of this rank.
std::string DefaultOutputFolder();

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_LAUNCHER_H_
