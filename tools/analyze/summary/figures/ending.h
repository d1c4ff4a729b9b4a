// The end of a process that did not end properly.
#ifndef TOOLS_ANALYZE_SUMMARY_FIGURES_ENDING_H_
#define TOOLS_ANALYZE_SUMMARY_FIGURES_ENDING_H_

#include <cstdint>
#include <optional>
#include <string>

#include "memoir/v1/capture.pb.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/model/event/ids.h"

namespace memoir {

struct Ending {
  ProcessId process;
  v1::End end;
  std::uint64_t ns = 0;               // newest event of the process
  std::optional<std::uint64_t> step;  // by the definition of a step in the process; empty: no step
  // The outermost operator that was running, or that failed with the exception. Empty: no operator, or unknown.
  std::string operator_name;
  std::string module;  // module in which the operator ran; empty: no module
  // The line that raised the exception, or else the line of the operator. not known(): no stack was recorded.
  SourceLine line;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_FIGURES_ENDING_H_
