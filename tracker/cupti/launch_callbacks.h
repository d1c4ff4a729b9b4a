// Which calls of CUDA call back: those whose records have a correlation, and no others.
#ifndef TRACKER_CUPTI_LAUNCH_CALLBACKS_H_
#define TRACKER_CUPTI_LAUNCH_CALLBACKS_H_

#include "tracker/cupti/cupti_library.h"

namespace memoir {

// CUPTI's answer for the launch that all versions of CUDA have; a call that a version does not know does not matter.
CUptiResult EnableLaunchCallbacks(const CuptiLibrary& library, CUpti_SubscriberHandle subscriber);

}  // namespace memoir

#endif  // TRACKER_CUPTI_LAUNCH_CALLBACKS_H_
