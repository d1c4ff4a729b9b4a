// The lines that every text view begins and ends with: what ran, and what the recording lacks.
#ifndef TOOLS_VIEW_CAPTURE_CAPTURE_TEXT_H_
#define TOOLS_VIEW_CAPTURE_CAPTURE_TEXT_H_

#include <cstdint>
#include <string>

#include "tools/model/capture.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// "train.py, torch 2.11.0, python 3.11.7, rank 0, pid 100 on testhost"; a job's ranks on a line of
// their own.
std::string RenderWhatRan(const Capture& capture, const Terminal& terminal);

// "on a SIMULATED GPU: NVIDIA L4 (l4)"; "" where the device is a real one. Said of the whole capture when it holds of
// any process: no figure of it may be taken for a measured one.
std::string SimulatedOn(const Capture& capture);

// "cpu", "rank 3 cpu" where the capture has several processes, "rank 3 (pid 100) cpu" where several have that rank,
// "rank 3 restart 1 cpu" where the launcher started it anew.
std::string DeviceLabel(const Capture& capture, const std::string& device, ProcessId process);

// How a process ended of which only the files are left, whose recording was finished from its ring.
inline constexpr char kEndedWithoutStopping[] = "ended without stopping (killed, os._exit or exec)";

// Events that are missing, damage, and processes that did not end in good order: a red line each, broken where the
// terminal ends. A quiet kNothingLost when nothing is missing.
inline constexpr char kNothingLost[] = "0 events dropped\n";
struct Losses {
  std::string notes;      // lines about nothing that went wrong
  std::string lines;      // the red ones, each with "! " before it, and what is broken off indented
  std::string closing;    // kNothingLost where that is so; of an imported file what it cannot know
  bool is_lossy = false;  // events are missing, or may be; false: the lines are of something else
};
Losses LossesOf(const Capture& capture, const ReplayReport& report, const Terminal& terminal);
// All three.
std::string RenderLosses(const Capture& capture, const ReplayReport& report, const Terminal& terminal);

// Parts that --max-size removed are gone on purpose, and their sums are not: these are the others.
std::uint64_t MissingParts(const ProcessSummary& process, const v1::Counters& counters);

// "recording was off for 2.1 s", of all processes together; "" where it never was.
std::string RecordingWasOff(const ReplayReport& report);

}  // namespace memoir

#endif  // TOOLS_VIEW_CAPTURE_CAPTURE_TEXT_H_
