// Facts about the machine on which this process runs, for its capture. Any thread.
#ifndef TRACKER_SESSION_PROCESS_HOST_FACTS_H_
#define TRACKER_SESSION_PROCESS_HOST_FACTS_H_

#include <string>

namespace memoir {

std::string HostName();  // characters that a file name cannot have are replaced
// Returns the simulated GPU of this process, as the loaded simulated device reports it. MEMOIR_SIM_GPU is not read,
// because it may be set without a simulated device. "" without a simulated device.
std::string SimulatedDevice();

}  // namespace memoir

#endif  // TRACKER_SESSION_PROCESS_HOST_FACTS_H_
