// The differences between the versions of torch that Memoir supports: 2.6 and later. Only this file tests
// TORCH_VERSION_MAJOR and TORCH_VERSION_MINOR.
//
// The library for each minor version is compiled against the wheel of that version, so nothing is decided at run time.
#ifndef TRACKER_TORCH_TORCH_VERSIONS_H_
#define TRACKER_TORCH_TORCH_VERSIONS_H_

#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>
#include <c10/core/TensorImpl.h>
#include <torch/version.h>

// True if the torch of this build has at least the version `major.minor`.
#define MEMOIR_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) || (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

namespace memoir {

// Returns the key of the operator's schema: an address that belongs to this schema alone while the operator is
// registered. For a range without a schema, the result depends on the version: with torch 2.7 and later nullptr; with
// older torch the address of the range's name, which is invalid after the range. Any thread, after
// FindKeyOfPlainRanges.
const char* SchemaKey(const at::RecordFunction& range);
const char* SchemaKey(const c10::FunctionSchema& schema);
void FindKeyOfPlainRanges();

#if MEMOIR_TORCH_AT_LEAST(2, 7)
// The key is the overload name, which lies inside of the schema. The overload name of a range without a schema is the
// same empty text for all such ranges.
inline constinit const char* key_of_plain_ranges = nullptr;
inline const char* SchemaKey(const at::RecordFunction& range) {
  const char* overload = range.overload_name();
  return overload == key_of_plain_ranges ? nullptr : overload;
}
inline const char* SchemaKey(const c10::FunctionSchema& schema) { return schema.overload_name().c_str(); }
inline void FindKeyOfPlainRanges() {
  const at::RecordFunction plain(at::RecordScope::USER_SCOPE);  // inactive: it runs no callbacks
  key_of_plain_ranges = plain.overload_name();
}
#else
inline const char* SchemaKey(const at::RecordFunction& range) { return range.name(); }
inline const char* SchemaKey(const c10::FunctionSchema& schema) { return schema.name().c_str(); }
inline void FindKeyOfPlainRanges() {}
#endif

// Returns the Python object of a tensor; nullptr if Python has no object for the tensor. torch renamed the function of
// the slot between 2.9 and 2.11.
template <typename Slot>
void* ObjectIn(const Slot& slot) {
  if constexpr (requires { slot.load_pyobj(); }) {
    return slot.load_pyobj();
  } else {
    return slot._unchecked_untagged_pyobj();
  }
}
inline void* PythonObjectOf(const c10::TensorImpl& impl) { return ObjectIn(*impl.pyobj_slot()); }

}  // namespace memoir

#endif  // TRACKER_TORCH_TORCH_VERSIONS_H_
