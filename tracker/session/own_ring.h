// The ring of a recording that begins.
#ifndef TRACKER_SESSION_OWN_RING_H_
#define TRACKER_SESSION_OWN_RING_H_

#include <string>

#include "tracker/session/settings.h"

namespace memoir {

// False, with one line in `error`, where none can be made, or where the interposer that is loaded is another Memoir's.
// `stem`: what the names of the recording's parts begin with.
bool OpenOwnRing(const Settings& settings, const std::string& stem, std::string* error);

}  // namespace memoir

#endif  // TRACKER_SESSION_OWN_RING_H_
