// The differences between the versions of torch that Memoir supports: 2.6 and later. Only this file tests
// TORCH_VERSION_MAJOR and TORCH_VERSION_MINOR.
//
// The library for each minor version is compiled against the wheel of that version, so the differences are decided at
// compile time.
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
// registered. For a range without a schema, the result is nullptr with torch 2.7 and later. With older torch, it is the
// address of the range's name, which is invalid after the range. Any thread. Call FindKeyOfPlainRanges once before.
const char* SchemaKey(const at::RecordFunction& range);
const char* SchemaKey(const c10::FunctionSchema& schema);
// Finds the key that all ranges without a schema have, so that SchemaKey recognizes it.
void FindKeyOfPlainRanges();

#if MEMOIR_TORCH_AT_LEAST(2, 7)
// The key is the address of the overload name, which is a member of the schema. All ranges without a schema share one
// empty overload name. Its address is key_of_plain_ranges.
inline constinit const char* key_of_plain_ranges = nullptr;
inline const char* SchemaKey(const at::RecordFunction& range) {
  const char* overload = range.overload_name();
  return overload == key_of_plain_ranges ? nullptr : overload;
}
inline const char* SchemaKey(const c10::FunctionSchema& schema) { return schema.overload_name().c_str(); }
inline void FindKeyOfPlainRanges() {
  const at::RecordFunction plain(at::RecordScope::USER_SCOPE);  // not active, so torch calls no callback
  key_of_plain_ranges = plain.overload_name();
}
#else
inline const char* SchemaKey(const at::RecordFunction& range) { return range.name(); }
inline const char* SchemaKey(const c10::FunctionSchema& schema) { return schema.name().c_str(); }
inline void FindKeyOfPlainRanges() {}
#endif

// Returns the Python object of the tensor to which `slot` (a c10::impl::PyObjectSlot) belongs; nullptr if Python has no
// object for the tensor. torch renamed the function that reads the slot between 2.9 and 2.11.
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
