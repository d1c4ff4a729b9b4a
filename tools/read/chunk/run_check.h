// Verifies that the columns of a run have as many values as its events need. So the code that later reads the columns
// needs no checks.
#ifndef TOOLS_READ_CHUNK_RUN_CHECK_H_
#define TOOLS_READ_CHUNK_RUN_CHECK_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "tools/read/chunk/run.h"
#include "tools/read/chunk/varint.h"

namespace memoir {

// The numbers of values that an event with a given signature has in the columns of tensors and of names.
// SignatureCountsById has the counts of all signatures of a part, by the signature's id; clear it at the begin of each
// part.
struct SignatureCounts {
  std::uint64_t tensors = 0;
  std::uint64_t names = 0;  // only for signatures of MODULE_HOLDS and HOLDS_MORE events
  bool operator==(const SignatureCounts&) const = default;
};
using SignatureCountsById = absl::flat_hash_map<std::uint32_t, SignatureCounts>;

// An error message has the form of Damage::what.
absl::Status CheckRun(const Run& run, const SignatureCountsById& signature_counts);

// Returns true if the column is complete and has `wanted` values.
bool HasValues(const PackedVarints& column, std::uint64_t wanted);

}  // namespace memoir

#endif  // TOOLS_READ_CHUNK_RUN_CHECK_H_
