// The folder of a recording that was given none. tools/cli/attach/launcher.h names it alike for `memoir run`.
#ifndef TRACKER_SESSION_DEFAULT_OUTPUT_H_
#define TRACKER_SESSION_DEFAULT_OUTPUT_H_

#include <cstdint>
#include <optional>
#include <string>

namespace memoir {

// "memoir-DATE-TIME". In a job that a launcher started, one and the same for each of its processes:
// memoir-slurm-JOB.STEP (proto/memoir/launchers.def), or the time at which their launcher started; "-2" and so on
// behind it where this rank has left a capture there before. `given_rank`: as FindRank has it. Relative to the working
// folder.
std::string DefaultOutput(std::optional<std::uint32_t> given_rank);

}  // namespace memoir

#endif  // TRACKER_SESSION_DEFAULT_OUTPUT_H_
