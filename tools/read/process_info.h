// What parts say of the process that they are of: whether this reader may read them, and which of two sayings counts.
#ifndef TOOLS_READ_PROCESS_INFO_H_
#define TOOLS_READ_PROCESS_INFO_H_

#include <cstdint>
#include <string>

#include "memoir/v1/capture.pb.h"

namespace memoir {

inline constexpr std::uint32_t kFormatVersion = 2;

// Of ProcessInfo.coordinates a recorder writes at most so many; a reader looks at no more.
inline constexpr int kMostCoordinates = 16;

// "" when this reader knows the format.
std::string WhyTooNew(const v1::ProcessInfo& process);

// Of what becomes known while a process runs the last counts.
void TakeNewer(const v1::ProcessInfo& newer, v1::ProcessInfo* process);

}  // namespace memoir

#endif  // TOOLS_READ_PROCESS_INFO_H_
