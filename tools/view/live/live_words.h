// What `memoir live` says of processes in words, on every page alike: who, how long, findings, and which is the worst.
#ifndef TOOLS_VIEW_LIVE_LIVE_WORDS_H_
#define TOOLS_VIEW_LIVE_LIVE_WORDS_H_

#include <string>
#include <vector>

#include "tools/analyze/live/live_picture.h"

namespace memoir {

// "rank 3 (pid 100)"; "pid 100" of what is no rank.
std::string LiveName(const LiveProcess& process);
// "running for 12 min 5 s"; "silent for 30.0 s", "ended after ...", "died after ...".
std::string LiveStateText(const LiveProcess& process);
// "step 1,204, 8.3 a second"; "" where no step is known.
std::string LiveStepText(const LiveProcess& process);
// "recording is off", "step 2 of 3 in full"; "" where everything is recorded for good.
std::string LiveLevelText(const LiveProcess& process);
// "memory runs out in 41 min (4,900 steps) if it goes on like this"; without figures where they are not known.
std::string LiveOutlook(const LiveMemory& device);

struct LiveFinding {
  const char* kind = "";  // "out_of_memory", "growth", "retries", "died", "lost_events", "disk", "damage"
  std::string key;        // the same as long as it is one finding, whatever its figures are
  std::string text;       // escaped, one line
};
// What a reader should know first, first.
std::vector<LiveFinding> LiveFindings(const LiveProcess& process);

// Died and out of memory first, then other findings, then what has the smallest part of its memory left.
std::vector<const LiveProcess*> WorstFirst(const LivePicture& picture);

// The devices that a text is about: those with a caching allocator; all where there is none.
std::vector<const LiveMemory*> InFocus(const LiveProcess& process);

}  // namespace memoir

#endif  // TOOLS_VIEW_LIVE_LIVE_WORDS_H_
