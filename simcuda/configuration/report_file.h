// Writes each device's figures to a file in the folder MEMOIR_SIM_REPORT, for the program that runs the simulation.
//
// The file is a shared mapping, so it survives any end of the process (os._exit, SIGKILL), and can be read while the
// process runs. It is created when the first device starts, so processes that only inherited LD_PRELOAD leave no file.
// A forked child gets its own file when it first takes, is refused or frees memory of a device.
#ifndef SIMCUDA_CONFIGURATION_REPORT_FILE_H_
#define SIMCUDA_CONFIGURATION_REPORT_FILE_H_

#include <atomic>
#include <cstdint>
#include <string>

namespace memoir::simcuda {

struct DeviceWords {
#define MEMOIR_SIM_WORD(name) std::atomic<std::uint64_t> name{0};
#include "proto/memoir/simulation_report.def"
#undef MEMOIR_SIM_WORD
};

// Returns the figures of a device. nullptr if no report is requested, or the file cannot be written (one line is
// printed). Callers hold the device's lock, so each device has one writer. Any thread.
DeviceWords* WordsOf(int ordinal);

// Appends `line` to the file "unknown" in the folder MEMOIR_SIM_REPORT, which all processes share. A line is "shape
// NAME" for an operator, or "number" if the program read values that were not computed. Any thread. Each call appends,
// so the caller must not pass a line that its process has already noted.
void NoteUnknown(const std::string& line);

// Notes in the folder MEMOIR_NOTES that the program requested device `asked`, which is not simulated. `memoir run`
// prints the note when the program has ended. Any thread; call it once.
void NoteMissingDevice(int asked);

}  // namespace memoir::simcuda

#endif  // SIMCUDA_CONFIGURATION_REPORT_FILE_H_
