// Rules for ProcessInfo: whether this reader knows its format version, and which fields a later chunk may update.
#ifndef TOOLS_READ_PROCESS_INFO_RULES_H_
#define TOOLS_READ_PROCESS_INFO_RULES_H_

#include <cstdint>
#include <string>

#include "memoir/v1/capture.pb.h"

namespace memoir {

inline constexpr std::uint32_t kFormatVersion = 2;

// The largest number of ProcessInfo.coordinates that the tracker writes and a reader uses.
inline constexpr int kMostCoordinates = 16;

// Returns the reason why the format is too new. Empty if this reader knows the format.
std::string NewerFormatError(const v1::ProcessInfo& process);

// Copies from `newer` to `process` the fields that can change while a process runs.
void UpdateProcessInfo(const v1::ProcessInfo& newer, v1::ProcessInfo* process);

}  // namespace memoir

#endif  // TOOLS_READ_PROCESS_INFO_RULES_H_
