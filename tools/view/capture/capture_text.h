// The lines at the beginning and the end of every text view: what ran, and which events the recording lacks.
#ifndef TOOLS_VIEW_CAPTURE_CAPTURE_TEXT_H_
#define TOOLS_VIEW_CAPTURE_CAPTURE_TEXT_H_

#include <cstdint>
#include <string>

#include "tools/model/capture.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// Returns "train.py, torch 2.11.0, python 3.11.7, rank 0, pid 100 on testhost". The ranks of a job have their own line.
std::string RenderProgram(const Capture& capture, const Terminal& terminal);

// Returns "on a SIMULATED GPU: NVIDIA L4 (l4)" if any process had a simulated device, so that no figure of the capture
// is taken for a measured one. Empty if all devices are real.
std::string SimulatedDeviceText(const Capture& capture);

// Returns "cpu"; "rank 3 cpu" if the capture has several processes; "rank 3 (pid 100) cpu" if several processes have
// this rank; "rank 3 restart 1 cpu" if the launcher restarted the rank.
std::string DeviceLabel(const Capture& capture, const std::string& device, ProcessId process);

// Describes the end of a process that died, if its recording was completed from its ring.
inline constexpr char kEndedWithoutStopping[] = "ended without stopping (killed, os._exit or exec)";

// The last line of text views if nothing is missing.
inline constexpr char kNothingLost[] = "0 events dropped\n";
// The lines about missing events, damage, and processes that did not end properly, wrapped at the terminal's width.
struct Losses {
  std::string notes;      // lines that are not warnings
  std::string lines;      // warnings; each begins with "! ", and continuation lines are indented
  std::string closing;    // kNothingLost if nothing is lost; for an imported file, which information is missing
  bool is_lossy = false;  // true: events are missing or may be missing; false: the lines are about something else
};
Losses LossesOf(const Capture& capture, const ReplayReport& report, const Terminal& terminal);
// Returns the notes, lines and closing of LossesOf() as one text.
std::string RenderLosses(const Capture& capture, const ReplayReport& report, const Terminal& terminal);

// Returns the number of missing parts, without the parts that --max-size evicted. The sums of evicted parts are known.
std::uint64_t MissingParts(const ProcessSummary& process, const v1::Counters& counters);

// Returns "recording was off for 2.1 s", summed over all processes. Empty if recording was never off.
std::string RecordingWasOff(const ReplayReport& report);

}  // namespace memoir

#endif  // TOOLS_VIEW_CAPTURE_CAPTURE_TEXT_H_
