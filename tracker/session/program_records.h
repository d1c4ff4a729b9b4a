// What the program itself puts into its recording: marks and steps. Any thread; nothing happens while recording is off.
#ifndef TRACKER_SESSION_PROGRAM_RECORDS_H_
#define TRACKER_SESSION_PROGRAM_RECORDS_H_

#include <cstdint>

namespace memoir {

void RecordMark(const char* text);  // cut to kMaxInlineName
void RecordStep(std::uint64_t step);

}  // namespace memoir

#endif  // TRACKER_SESSION_PROGRAM_RECORDS_H_
