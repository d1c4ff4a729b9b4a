// What the launcher of a job (torchrun, srun, mpirun) tells of this process in its environment. The recorder decides
// by the same table (proto/memoir/launchers.def, tracker/session/rank.h, default_output.h); one test compares the two.
#ifndef TOOLS_CLI_ATTACH_LAUNCHER_H_
#define TOOLS_CLI_ATTACH_LAUNCHER_H_

#include <map>
#include <string>

namespace memoir {

// Options of the recording by their variables. What stands in them comes before the environment.
using Variables = std::map<std::string, std::string>;

// `srun memoir run -- python train.py` starts one of us for each rank: rank 0's speaks.
bool SpeaksForJob(const Variables& given);

// Whether a launcher started this process as one of a job's.
bool HasRankOfLauncher();

// "slurm-71.4": what the launcher calls the job, the same in each process that it started. Of another job it is
// another, but for torchrun's, which is what --rdzv-id says. "": nothing.
std::string NameOfLaunchersJob();

// The folder of a capture that was given none, in the working folder: memoir-DATE-TIME, with "-2" and so on where that
// is taken. In a job one and the same for each of its processes: memoir-slurm-JOB.STEP, or the time at which their
// launcher started; "-2" where this rank has left a capture there before.
std::string DefaultOutputFolder();

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_LAUNCHER_H_
