// What the capture says of this process, as far as it is known when a recording starts. Any thread.
#ifndef TRACKER_SESSION_OWN_FACTS_H_
#define TRACKER_SESSION_OWN_FACTS_H_

#include <cstdint>
#include <string>

#include "tracker/session/rank.h"
#include "tracker/session/settings.h"
#include "tracker/torch/hooks.h"
#include "tracker/writer/process_facts.h"

namespace memoir {

ProcessFacts FactsNow(const Settings& settings, OperatorHook operators, std::uint64_t ticks_per_second);
void TakeRank(const Rank& rank, ProcessFacts* facts);
// "r00000.a0.host.pid": what the names of its files start with.
std::string FileStem(const ProcessFacts& facts);

}  // namespace memoir

#endif  // TRACKER_SESSION_OWN_FACTS_H_
