// Finds the id of an operator's name in the ring's table of names. A look-up takes a few nanoseconds, and does not copy
// the operator's schema.
//
// RecordFunction returns the schema only as a copy, but it also returns a pointer into the original schema (SchemaKey
// of torch_versions.h). A hash table maps this pointer to the id. Each operator is added to the table at its first use.
// When torch removes an operator, all ids in the table are cleared, because another operator's schema may then get the
// same address.
//
// Any thread, while a range begins. A look-up takes no lock. The first use of an operator takes a spin lock and
// allocates.
#ifndef TRACKER_TORCH_RANGES_OPERATOR_NAMES_H_
#define TRACKER_TORCH_RANGES_OPERATOR_NAMES_H_

#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>

#include <cstdint>

namespace memoir {

// Clears the ids of an earlier recording, because each recording has a new ring with an empty table of names. Call it
// before each recording.
void PrepareOperatorNames();

// Returns the id of the operator's name in the ring's table. 0 if the range has no schema, if the table is full, or if
// there is no memory; the caller then records the name as text. Does not throw.
std::uint32_t FindOperatorName(const at::RecordFunction& range);

// Returns the id of the operator with this schema, or 0, as above. `schema` must be the dispatcher's own object,
// because the address of the schema identifies the operator.
std::uint32_t FindOperatorName(const c10::FunctionSchema& schema);

}  // namespace memoir

#endif  // TRACKER_TORCH_RANGES_OPERATOR_NAMES_H_
