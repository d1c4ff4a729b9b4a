// The default folder of a capture, if -o is not given. tools/cli/attach/launcher.h makes the same name for `memoir
// run`.
#ifndef TRACKER_SESSION_PROCESS_DEFAULT_OUTPUT_H_
#define TRACKER_SESSION_PROCESS_DEFAULT_OUTPUT_H_

#include <cstdint>
#include <optional>
#include <string>

namespace memoir {

// Returns "memoir-DATE-TIME", relative to the working folder. In a job that a launcher started, all processes get the
// same name. It contains the job's id if the environment has one: for example memoir-slurm-JOB.STEP
// (proto/memoir/launchers.def). Otherwise it is memoir-DATE-TIME with the start time of the launcher. If the folder
// already has a part of this rank, "-2", "-3", ... is appended. `given_rank`: the argument `given` of FindRank.
std::string DefaultOutput(std::optional<std::uint32_t> given_rank);

}  // namespace memoir

#endif  // TRACKER_SESSION_PROCESS_DEFAULT_OUTPUT_H_
