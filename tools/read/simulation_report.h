// Reads the reports of simulated devices (proto/memoir/simulation_report.def), one file for each process that used such
// a device, in the folder that MEMOIR_SIM_REPORT names.
//
// Any thread. The process may still run, or may have ended in any way. The result is its last state.
#ifndef TOOLS_READ_SIMULATION_REPORT_H_
#define TOOLS_READ_SIMULATION_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace memoir {

// simulation_report.def defines the fields. They are in bytes, except for `refusals` and `card`.
struct SimulatedDevice {
  std::uint64_t ordinal = 0;
#define MEMOIR_SIM_WORD(name) std::uint64_t name = 0;
#include "proto/memoir/simulation_report.def"
#undef MEMOIR_SIM_WORD
};

struct SimulatedProcess {
  std::uint64_t pid = 0;
  std::vector<SimulatedDevice> devices;  // devices that were used
};

// How the processes of the run used values that the simulated device did not compute. Such values are zeros.
struct SimulationUnknowns {
  std::vector<std::string> shapes;  // operators whose result shapes depend on such values, sorted: "aten::nonzero"
  bool numbers = false;             // true: the program read such values
};
SimulationUnknowns ReadSimulationUnknowns(const std::string& folder);

// Returns the reports, sorted by process id. Ignores other files in the folder.
std::vector<SimulatedProcess> ReadSimulationReports(const std::string& folder);

}  // namespace memoir

#endif  // TOOLS_READ_SIMULATION_REPORT_H_
