// Adds to each out-of-memory error the bytes that the program's leaks keep on the device of the error. A leak is a line
// of the program that keeps more memory in every step.
#ifndef TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_LEAKS_H_
#define TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_LEAKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/lives/leak.h"

namespace memoir {

struct OutOfMemory;

struct LeakTotals {
  std::uint64_t places = 0;  // lines that keep more in every step, on the device of the error
  std::uint64_t bytes = 0;   // bytes that these places kept when the newest step began
  std::uint64_t bytes_per_step = 0;
  std::uint64_t since_step = 0;  // earliest step with growth at one of these places, by the program's numbers
  SourceLine line;               // the line that keeps most
  std::string operator_name;     // the operator that keeps most, if the line is unknown; empty: outside of operators
};

// Fills in OutOfMemory::leaking for errors that happened after the newest step began. Leaks are determined when this
// step begins.
void AddLeakTotals(const std::vector<Leak>& leaks, std::vector<OutOfMemory>& errors);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_LEAKS_H_
