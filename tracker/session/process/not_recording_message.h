// Prints why this process is not recorded, if a recording cannot start and no caller receives the error.
// python/_torch_memoir/processes/_processes.py does the same.
#ifndef TRACKER_SESSION_PROCESS_NOT_RECORDING_MESSAGE_H_
#define TRACKER_SESSION_PROCESS_NOT_RECORDING_MESSAGE_H_

#include <string>

namespace memoir {

// The reporting process prints one line on stderr, even if the recording is quiet, because the line is an error. Under
// `memoir run` each process also writes a note into $MEMOIR_NOTES. `memoir run` removes the notes. If no process has
// printed the problem, `memoir run` prints it. `child`: another process of the job started this process. Such a process
// prints the line only without `memoir run`. Any thread.
void PrintNotRecording(const std::string& problem, bool child);

}  // namespace memoir

#endif  // TRACKER_SESSION_PROCESS_NOT_RECORDING_MESSAGE_H_
