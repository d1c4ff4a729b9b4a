// Collects the facts about this process that the capture contains (ProcessFacts), as they are when the recording
// starts. Any thread.
#ifndef TRACKER_SESSION_PROCESS_FACTS_AT_START_H_
#define TRACKER_SESSION_PROCESS_FACTS_AT_START_H_

#include <cstdint>
#include <string>

#include "tracker/session/process/rank.h"
#include "tracker/session/settings.h"
#include "tracker/torch/hooks.h"
#include "tracker/writer/file/process_facts.h"

namespace memoir {

ProcessFacts CollectProcessFacts(const Settings& settings, OperatorHook operators, std::uint64_t ticks_per_second);
void CopyRank(const Rank& rank, ProcessFacts* facts);
// Returns the beginning of the names of the recording's files: "r00000.a0.host.pid".
std::string FileStem(const ProcessFacts& facts);

}  // namespace memoir

#endif  // TRACKER_SESSION_PROCESS_FACTS_AT_START_H_
