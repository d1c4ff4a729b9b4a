// What each device says of itself to whoever simulates this process: words in a file in the folder MEMOIR_SIM_REPORT.
//
// The file is a shared mapping, so that it outlives the process whatever ends it (os._exit, SIGKILL), and can be read
// while it runs. It is made when a first device starts: processes that only inherited the preload leave none. A forked
// child has a file of its own from its first charge on.
#ifndef INTERPOSE_SIMCUDA_REPORT_H_
#define INTERPOSE_SIMCUDA_REPORT_H_

#include <atomic>
#include <cstdint>
#include <string>

namespace memoir::simcuda {

struct DeviceWords {
#define MEMOIR_SIM_WORD(name) std::atomic<std::uint64_t> name{0};
#include "proto/memoir/simulation_report.def"
#undef MEMOIR_SIM_WORD
};

// Any thread. nullptr: nobody asked, or the file cannot be written (said once). Callers hold the device's lock: one
// writer a device.
DeviceWords* WordsOf(int ordinal);

// Appends `line` to the file "unknown" of that folder, where all processes say what they did not know: "shape NAME" of
// an operator, "number" where a program read some that nothing computed. Any thread; call it once for each line.
void NoteUnknown(const std::string& line);

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_REPORT_H_
