// Makes the output of memoir-drain --list and memoir-drain --clean, which `memoir doctor` reads: the rings of dead
// processes in some folders, and the action of memoir-drain for each ring.
//
// One line for each ring, with five fields separated by tabs: path, bytes, process id, state, text.
//
//     merge    the ring's newest events are not in the capture yet; the text is the capture's folder
//     gone     as for `merge`, but the capture's folder no longer exists
//     foreign  the ring belongs to another version of Memoir, or is truncated; the text is empty
//     merged   a ring of state `merge` was merged; the text is the capture's folder
//     removed  a ring of state `gone` was removed; the text is the capture's folder
//     kept     the merge or removal failed; the text is the reason
#ifndef TRACKER_DRAIN_DEAD_RING_LINES_H_
#define TRACKER_DRAIN_DEAD_RING_LINES_H_

#include <string>

namespace memoir {

// Returns the lines for the rings in `folder`. `clean`: merges the rings into their captures, and removes the rings
// whose captures no longer exist.
std::string DeadRingLines(const std::string& folder, bool clean);

}  // namespace memoir

#endif  // TRACKER_DRAIN_DEAD_RING_LINES_H_
