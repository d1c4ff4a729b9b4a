// What `memoir doctor` asks memoir-drain for: the rings of dead processes in some folders, and what became of them.
//
// One line each, five fields with tabs between: path, bytes, process id, what it is, a text.
//
//     merge    its newest events are not in the capture yet; the text is the capture's folder
//     gone     the same, but the capture's folder is gone
//     foreign  another version's, or cut short; the text is ""
//     merged, removed    what was done to a `merge`, a `gone`; the text is the capture's folder
//     kept     it could not be done; the text says why
#ifndef TRACKER_DRAIN_DEAD_RING_LINES_H_
#define TRACKER_DRAIN_DEAD_RING_LINES_H_

#include <string>

namespace memoir {

// Those in `folder`. `clean`: puts them into their captures, and removes those whose captures are gone.
std::string DeadRingLines(const std::string& folder, bool clean);

}  // namespace memoir

#endif  // TRACKER_DRAIN_DEAD_RING_LINES_H_
