// Opens the ring of a recording that begins.
#ifndef TRACKER_SESSION_OWN_RING_H_
#define TRACKER_SESSION_OWN_RING_H_

#include <string>

#include "tracker/session/settings.h"

namespace memoir {

// Opens the ring. False, with one line in `error`, if no ring can be made, or if the loaded interposer belongs to
// another version of Memoir. `stem`: the beginning of the names of the recording's parts.
bool OpenOwnRing(const Settings& settings, const std::string& stem, std::string* error);

}  // namespace memoir

#endif  // TRACKER_SESSION_OWN_RING_H_
