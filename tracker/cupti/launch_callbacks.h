// Enables CUPTI's callbacks for the CUDA calls that Memoir records with a correlation id (CUPTI's number of a call):
// launches of kernels and graphs, copies and fills. CUPTI does not call back for other CUDA calls.
#ifndef TRACKER_CUPTI_LAUNCH_CALLBACKS_H_
#define TRACKER_CUPTI_LAUNCH_CALLBACKS_H_

#include "tracker/cupti/cupti_library.h"

namespace memoir {

// Enables the callbacks of `subscriber`. Returns CUPTI's result for cuLaunchKernel, which all versions of CUDA have.
// The results for the other CUDA calls are ignored, because some versions of CUDA lack some of these calls.
CUptiResult EnableLaunchCallbacks(const CuptiLibrary& library, CUpti_SubscriberHandle subscriber);

}  // namespace memoir

#endif  // TRACKER_CUPTI_LAUNCH_CALLBACKS_H_
