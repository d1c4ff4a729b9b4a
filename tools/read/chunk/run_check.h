// Verifies that the columns of a run have as many values as its events take, so that reading them needs no checks.
#ifndef TOOLS_READ_CHUNK_RUN_CHECK_H_
#define TOOLS_READ_CHUNK_RUN_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "tools/read/chunk/payload.h"
#include "tools/read/chunk/varint.h"

namespace memoir {

// An error message has the form of Damage::what.
absl::Status CheckRun(const Run& run, const SignatureCountsById& signature_counts);

// Returns true if the column is whole and has `wanted` values.
bool HasValues(const PackedVarints& column, std::uint64_t wanted);

}  // namespace memoir

#endif  // TOOLS_READ_CHUNK_RUN_CHECK_H_
