// What happens in this process and is not recorded, because a hook could not be set or torch did not answer.
//
// Any thread.
#ifndef TRACKER_SESSION_UNRECORDED_H_
#define TRACKER_SESSION_UNRECORDED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tracker/writer/process_facts.h"
#include "tracker/writer/writer.h"

namespace memoir {

// Of the recording that runs, as of now.
std::vector<Unrecorded> FindUnrecorded();

// Adds what comes to be recorded once CUDA is in use. True: something was added.
bool AddLateSources(ProcessFacts* facts);

// Both into the capture, where it is not what `facts` has. True: there is news of what is not recorded, and some.
bool TakeUnrecorded(ProcessFacts* facts, Writer* writer);

// For the terminal, as of the moment at which it is found.
std::string UnrecordedLine(const Unrecorded& unrecorded);

// What publish=nvtx-memory could not do, on the terminal if it `speaks`; once. `is_last`: also how much it left out.
void SayUnpublished(bool speaks, bool is_last);

// What of the recording is not on file, and why; "" when all of it is. `late`: records that hooks committed after the
// writer's last look, or that a writer which gave up has left. No counter in the capture knows of them.
std::string Losses(const WriterStatus& status, std::uint64_t late);

}  // namespace memoir

#endif  // TRACKER_SESSION_UNRECORDED_H_
