// Describes events that the tracker could not see. If CUDA memory was not recorded, views print that it is unknown,
// instead of "0 B".
#ifndef TOOLS_VIEW_CAPTURE_UNRECORDED_TEXT_H_
#define TOOLS_VIEW_CAPTURE_UNRECORDED_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/model/capture.h"

namespace memoir {

using UnrecordedSpan = ReplayReport::Process::UnrecordedSpan;

// Returns "CUDA memory is not known from 0.0012 s to the end: torch's CUDA allocator was not found", a line for each
// span.
std::vector<std::string> UnrecordedLines(const ReplayReport::Process& process);

// Returns such a line for the first process whose CUDA memory is partly unknown. Empty if all CUDA memory was recorded.
std::string CudaMemoryNotKnown(const ReplayReport& report);

// The next three functions return a span in which the memory of a CUDA device of the process is unknown.
// UnknownMemoryAtEnd returns only a span that lasts until the end of the recording. UnknownMemoryAt returns only a span
// that contains `ns`. nullptr if there is no such span, or if the device is not a CUDA device.
const UnrecordedSpan* UnknownMemory(const ReplayReport& report, ProcessId process, std::string_view device);
const UnrecordedSpan* UnknownMemoryAtEnd(const ReplayReport& report, ProcessId process, std::string_view device);
const UnrecordedSpan* UnknownMemoryAt(const ReplayReport& report, ProcessId process, std::string_view device,
                                      std::uint64_t ns);

}  // namespace memoir

#endif  // TOOLS_VIEW_CAPTURE_UNRECORDED_TEXT_H_
