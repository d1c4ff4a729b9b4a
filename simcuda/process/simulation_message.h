// Prints the simulated device's messages, each a line on standard error: "memoir: simulated GPU: ...". The simulated
// device prints all its messages through PrintMessage.
//
// Any thread. Uses no stdio: it may run before main and while the program holds stdio's locks.
#ifndef SIMCUDA_PROCESS_SIMULATION_MESSAGE_H_
#define SIMCUDA_PROCESS_SIMULATION_MESSAGE_H_

#include <cstdint>
#include <string>

namespace memoir::simcuda {

void PrintMessage(const std::string& what);

// Returns a size with its unit: "79.18 GiB", "512.00 MiB".
std::string ReadableBytes(std::uint64_t bytes);

}  // namespace memoir::simcuda

#endif  // SIMCUDA_PROCESS_SIMULATION_MESSAGE_H_
