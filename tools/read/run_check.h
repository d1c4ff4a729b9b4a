// Whether the columns of a run have as many values as its events take: what makes walking them safe without checks.
#ifndef TOOLS_READ_RUN_CHECK_H_
#define TOOLS_READ_RUN_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "tools/read/payload.h"
#include "tools/read/varint.h"

namespace memoir {

// The message of an error is what Damage::what wants.
absl::Status CheckRun(const Run& run, const SignatureTensors& signature_tensors);

// Whether the column is whole and has so many values.
bool Has(const Column& column, std::uint64_t wanted);

}  // namespace memoir

#endif  // TOOLS_READ_RUN_CHECK_H_
