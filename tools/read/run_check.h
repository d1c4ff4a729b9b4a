// Whether the columns of a run have as many values as its events take: what makes walking them safe without checks.
#ifndef TOOLS_READ_RUN_CHECK_H_
#define TOOLS_READ_RUN_CHECK_H_

#include "absl/status/status.h"
#include "tools/read/payload.h"

namespace memoir {

// The message of an error is what Damage::what wants.
absl::Status CheckRun(const Run& run, const SignatureTensors& signature_tensors);

}  // namespace memoir

#endif  // TOOLS_READ_RUN_CHECK_H_
