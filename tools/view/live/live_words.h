// Texts about processes that all views of `memoir live` share: names, durations, findings, and the order by importance.
#ifndef TOOLS_VIEW_LIVE_LIVE_WORDS_H_
#define TOOLS_VIEW_LIVE_LIVE_WORDS_H_

#include <string>
#include <vector>

#include "tools/analyze/live/live_figures.h"

namespace memoir {

// Returns "rank 3 (pid 100)"; "pid 100" without a rank.
std::string LiveName(const LiveProcess& process);
// Returns "running for 12 min 5 s", "silent for 30.0 s", "ended after ...", "died after ...".
std::string LiveStateText(const LiveProcess& process);
// Returns "step 1,204, 8.3 a second". Empty if no step is known.
std::string LiveStepText(const LiveProcess& process);
// Returns "recording is off", "operators are not recorded", "step 2 of 3 in full". Empty if there is nothing to report.
std::string LiveLevelText(const LiveProcess& process);
// Returns "memory runs out in 41 min (4,900 steps) if it goes on like this"; without figures if they are unknown.
std::string LiveOutlook(const LiveMemory& device);

struct LiveFinding {
  const char* kind = "";  // "out_of_memory", "growth", "retries", "died", "lost_events", "disk", "damage"
  std::string key;        // equal for the same finding, even if the figures in `text` have changed
  std::string text;       // escaped, one line
};
// Returns the findings, the most important first.
std::vector<LiveFinding> LiveFindings(const LiveProcess& process);

// Processes that died or ran out of memory come first, then processes with other findings, then the others. Each group
// is sorted: running before ended processes, then by the share of free memory, the smallest first.
std::vector<const LiveProcess*> ProcessesWorstFirst(const LiveFigures& figures);

// Returns the devices that a text describes: devices with a caching allocator, or all devices if no device has a
// caching allocator.
std::vector<const LiveMemory*> DevicesInFocus(const LiveProcess& process);

}  // namespace memoir

#endif  // TOOLS_VIEW_LIVE_LIVE_WORDS_H_
