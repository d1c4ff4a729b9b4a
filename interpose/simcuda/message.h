// The one way in which the simulated device speaks: a line on standard error, "memoir: simulated GPU: ...".
//
// Any thread. Uses no stdio: it may run before main and while the program holds stdio's locks.
#ifndef INTERPOSE_SIMCUDA_MESSAGE_H_
#define INTERPOSE_SIMCUDA_MESSAGE_H_

#include <cstdint>
#include <string>

namespace memoir::simcuda {

void Say(const std::string& what);

// "79.18 GiB", "512.00 MiB".
std::string ReadableBytes(std::uint64_t bytes);

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_MESSAGE_H_
