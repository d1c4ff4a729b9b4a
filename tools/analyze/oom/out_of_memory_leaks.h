// Out-of-memory errors of programs that keep more in every step: how much of the device that has taken by then.
#ifndef TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_LEAKS_H_
#define TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_LEAKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/lives/leak.h"

namespace memoir {

struct OutOfMemory;

struct Leaking {
  std::uint64_t places = 0;  // lines that keep more in every step, on the device of the error
  std::uint64_t bytes = 0;   // that they kept when the newest step began
  std::uint64_t bytes_per_step = 0;
  std::uint64_t since_step = 0;  // the first of them, as the program counts
  SourceLine line;               // that keeps most
  std::string operator_name;     // likewise, where there is no line; "": outside of any
};

// To errors in the newest step: who keeps more was looked at where that began.
void AddLeaks(const std::vector<Leak>& leaks, std::vector<OutOfMemory>& errors);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_LEAKS_H_
