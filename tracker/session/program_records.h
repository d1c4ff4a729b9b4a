// What the program itself puts into its recording: marks and steps. Any thread of the program's; nothing happens while
// recording is off.
#ifndef TRACKER_SESSION_PROGRAM_RECORDS_H_
#define TRACKER_SESSION_PROGRAM_RECORDS_H_

#include <cstdint>
#include <optional>

namespace memoir {

void RecordMark(const char* text);  // cut to kMaxInlineName
void RecordStep(std::uint64_t step);
// Marks that are none of the program's (docs/event_schema.md, "Steps that were asked for"): the first of `steps` that
// are recorded in full began, `first` by the program's own count where that is known; they are over.
void RecordAskedBegin(std::uint64_t steps, std::optional<std::uint64_t> first);
void RecordAskedEnd();

}  // namespace memoir

#endif  // TRACKER_SESSION_PROGRAM_RECORDS_H_
