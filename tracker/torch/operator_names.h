// From a range's schema to its id in the ring's name table, in a few nanoseconds and without copying the schema.
//
// RecordFunction offers no schema without a copy, but it offers pointers into it (SchemaKey of torch_versions.h): such
// an address is a key. The table is filled once per operator and emptied when torch
// removes one, since the address may then come to mean another.
//
// Any thread, inside a range's begin. Finding takes no lock; a first sight takes a spin lock and allocates.
#ifndef TRACKER_TORCH_OPERATOR_NAMES_H_
#define TRACKER_TORCH_OPERATOR_NAMES_H_

#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>

#include <cstdint>

namespace memoir {

// Call before each recording: a new ring has an empty name table, so ids of an earlier one mean nothing.
void PrepareOperatorNames();

// The operator's id in the ring's name table; 0 when the range has no schema, the table is full or there is no memory:
// record the text then. Throws nothing.
std::uint32_t FindOperatorName(const at::RecordFunction& range);

// The same for an operator whose schema is at hand: the dispatcher's own, for its address counts.
std::uint32_t FindOperatorName(const c10::FunctionSchema& schema);

}  // namespace memoir

#endif  // TRACKER_TORCH_OPERATOR_NAMES_H_
