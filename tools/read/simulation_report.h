// What simulated devices said of themselves (proto/memoir/simulation_report.def): one file for each process that used
// one, in the folder that MEMOIR_SIM_REPORT names.
//
// Any thread. The process may still be running, or be gone in any way; what is read is what it wrote last.
#ifndef TOOLS_READ_SIMULATION_REPORT_H_
#define TOOLS_READ_SIMULATION_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace memoir {

// Bytes, but `refusals` and `card`. The table says what each is.
struct SimulatedDevice {
  std::uint64_t ordinal = 0;
#define MEMOIR_SIM_WORD(name) std::uint64_t name = 0;
#include "proto/memoir/simulation_report.def"
#undef MEMOIR_SIM_WORD
};

struct SimulatedProcess {
  std::uint64_t pid = 0;
  std::vector<SimulatedDevice> devices;  // those that were used
};

// What the run's processes did not know: each operator once whose results' shapes depend on values that the device did
// not compute, and whether the program read such values itself, as zeros.
struct SimulationUnknowns {
  std::vector<std::string> shapes;  // "aten::nonzero", sorted
  bool numbers = false;
};
SimulationUnknowns ReadSimulationUnknowns(const std::string& folder);

// By process number. Files that are no reports are left out: they are of whoever else writes there.
std::vector<SimulatedProcess> ReadSimulationReports(const std::string& folder);

}  // namespace memoir

#endif  // TOOLS_READ_SIMULATION_REPORT_H_
