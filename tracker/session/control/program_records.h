// Writes records of marks and steps into the ring, for calls of memoir_mark and memoir_step and for RecordingControls.
// Any thread of the program; does nothing while recording is off.
#ifndef TRACKER_SESSION_CONTROL_PROGRAM_RECORDS_H_
#define TRACKER_SESSION_CONTROL_PROGRAM_RECORDS_H_

#include <cstdint>
#include <optional>

namespace memoir {

void RecordMark(const char* text);  // texts longer than kMaxInlineName are cut
void RecordStep(std::uint64_t step);
// Write Memoir's own marks, which the program did not request (docs/event_schema.md, "Requested steps").
// RecordRequestBegin: the first of `steps` requested steps has begun; `first` is the number of this step, if known.
// RecordRequestEnd: the requested steps have ended.
void RecordRequestBegin(std::uint64_t steps, std::optional<std::uint64_t> first);
void RecordRequestEnd();

}  // namespace memoir

#endif  // TRACKER_SESSION_CONTROL_PROGRAM_RECORDS_H_
