// What the recorder could not see, in words. Where CUDA memory was not recorded no view says "0 B": it is not known.
#ifndef TOOLS_VIEW_CAPTURE_UNRECORDED_TEXT_H_
#define TOOLS_VIEW_CAPTURE_UNRECORDED_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/model/capture.h"

namespace memoir {

using Unrecorded = ReplayReport::Process::Unrecorded;

// "CUDA memory is not known from 0.0012 s to the end: torch's CUDA allocator was not found"; a line for each span.
std::vector<std::string> UnrecordedLines(const ReplayReport::Process& process);

// Such a line about CUDA memory, of the first process that has one; "" where all of it was recorded.
std::string CudaMemoryNotKnown(const ReplayReport& report);

// The span of a device of the process in which nothing of it is known; nullptr: all is, or it is no CUDA device.
const Unrecorded* UnknownMemory(const ReplayReport& report, ProcessId process, std::string_view device);
const Unrecorded* UnknownMemoryAtEnd(const ReplayReport& report, ProcessId process, std::string_view device);
const Unrecorded* UnknownMemoryAt(const ReplayReport& report, ProcessId process, std::string_view device,
                                  std::uint64_t ns);

}  // namespace memoir

#endif  // TOOLS_VIEW_CAPTURE_UNRECORDED_TEXT_H_
