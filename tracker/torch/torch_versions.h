// Everything in which the torches that Memoir builds for differ, 2.6 and later: the one place that asks TORCH_VERSION.
//
// The library of each minor is compiled against its own wheel, so nothing is decided at run time.
#ifndef TRACKER_TORCH_TORCH_VERSIONS_H_
#define TRACKER_TORCH_TORCH_VERSIONS_H_

#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>
#include <c10/core/TensorImpl.h>
#include <torch/version.h>

// Whether the torch of this build is `major.minor` or later.
#define MEMOIR_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) || (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

namespace memoir {

// An address that belongs to the operator's schema alone, for as long as the operator is registered; nullptr when the
// range has no schema. Before 2.7 a range without a schema has one, too: its own name's, which passes with it.
// Any thread, once FindKeyOfPlainRanges was called.
const char* SchemaKey(const at::RecordFunction& range);
const char* SchemaKey(const c10::FunctionSchema& schema);
void FindKeyOfPlainRanges();

#if MEMOIR_TORCH_AT_LEAST(2, 7)
// The overload name lies inside the schema; without one, it is the same empty text for all.
inline constinit const char* key_of_plain_ranges = nullptr;
inline const char* SchemaKey(const at::RecordFunction& range) {
  const char* overload = range.overload_name();
  return overload == key_of_plain_ranges ? nullptr : overload;
}
inline const char* SchemaKey(const c10::FunctionSchema& schema) { return schema.overload_name().c_str(); }
inline void FindKeyOfPlainRanges() {
  const at::RecordFunction plain(at::RecordScope::USER_SCOPE);  // inactive: it calls nobody back
  key_of_plain_ranges = plain.overload_name();
}
#else
inline const char* SchemaKey(const at::RecordFunction& range) { return range.name(); }
inline const char* SchemaKey(const c10::FunctionSchema& schema) { return schema.name().c_str(); }
inline void FindKeyOfPlainRanges() {}
#endif

// The object that Python has of a tensor; nullptr: none. The slot's function was renamed between 2.9 and 2.11.
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
