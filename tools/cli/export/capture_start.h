// The start of a capture, for file formats that count times from 1970.
#ifndef TOOLS_CLI_EXPORT_CAPTURE_START_H_
#define TOOLS_CLI_EXPORT_CAPTURE_START_H_

#include <cstddef>
#include <cstdint>

#include "tools/model/capture.h"

namespace memoir {

// Returns the time at which the first process started, in nanoseconds since 1970. Times in the capture are counted from
// this time. 0 if the capture has no runs.
inline std::uint64_t StartOf(const Capture& capture) {
  const std::size_t run = capture.run() == kAllRuns ? 0 : capture.run() - 1;
  return run < capture.runs().size() ? capture.runs()[run].start_ns : 0;
}

}  // namespace memoir

#endif  // TOOLS_CLI_EXPORT_CAPTURE_START_H_
