// Where this process runs, for its capture. Any thread.
#ifndef TRACKER_SESSION_HOST_FACTS_H_
#define TRACKER_SESSION_HOST_FACTS_H_

#include <string>

namespace memoir {

std::string HostName();  // fit for a file's name
// The simulated GPU that this process runs on, by its own word: a variable alone proves nothing. "": none.
std::string SimulatedDevice();

}  // namespace memoir

#endif  // TRACKER_SESSION_HOST_FACTS_H_
