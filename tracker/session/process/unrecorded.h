// Finds and reports the gaps in the recording of this process: events whose hook could not be installed or for which a
// query of torch failed, blocks that were not published, and records that were not written.
//
// Any thread.
#ifndef TRACKER_SESSION_PROCESS_UNRECORDED_H_
#define TRACKER_SESSION_PROCESS_UNRECORDED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tracker/writer/file/process_facts.h"
#include "tracker/writer/writer.h"

namespace memoir {

// Returns the events that the running recording lacks, as far as is known now.
std::vector<UnrecordedEvents> FindUnrecorded();

// Adds to `facts->sources` the event sources that became available only when CUDA was first used. Returns true if a
// source was added.
bool AddLateSources(ProcessFacts* facts);

// Updates `facts` with FindUnrecorded and AddLateSources, and passes changed facts to `writer`. Returns true if the
// list of unrecorded events has changed and is not empty.
bool TakeUnrecorded(ProcessFacts* facts, Writer* writer);

// Returns the line that is printed when Memoir notices that these events are not recorded.
std::string UnrecordedLine(const UnrecordedEvents& unrecorded);

// If this process `is_reporting`, prints why blocks could not be published (publish=nvtx-memory). Prints each reason
// once. `is_last`: also prints how many blocks were not published.
void PrintUnpublished(bool is_reporting, bool is_last);

// Returns one line with the number of records that were not written, and the cause; "" if all records were written.
// `late`: number of records that hooks committed after the writer had read the ring for the last time, or that a failed
// writer left in the ring. No counter in the capture includes these records.
std::string DescribeLosses(const WriterStatus& status, std::uint64_t late);
// Return one line that reports that a recording could not be ended. DescribeBusySession: another thread holds the
// session's lock. DescribeUnwritten: the writer's thread hangs.
std::string DescribeBusySession();
std::string DescribeUnwritten(const std::string& folder, const std::string& ring);

}  // namespace memoir

#endif  // TRACKER_SESSION_PROCESS_UNRECORDED_H_
