// Says why this process is not recorded, where nobody asked who could be told: as python/memoir/_processes.py does.
#ifndef TRACKER_SESSION_NOT_RECORDING_H_
#define TRACKER_SESSION_NOT_RECORDING_H_

#include <string>

namespace memoir {

// One line on stderr, an error and therefore also of a quiet recording, by the process that speaks for its job. Under
// `memoir run` also a note in the folder that it names ($MEMOIR_NOTES), which it takes away and says where nobody has
// said it. `child`: another process of the job started this one and speaks, unless there is nobody to read notes. Any
// thread.
void SayNotRecording(const std::string& problem, bool child);

}  // namespace memoir

#endif  // TRACKER_SESSION_NOT_RECORDING_H_
