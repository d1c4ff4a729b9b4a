// Implements the functions of tracker/memoir_python.h with which the Python package records calls of Python functions.
// Before Python 3.12, memoir_python_trace_calls sets profile functions (call_tracer.h). From 3.12 on, the package
// registers the last four functions of this file as callbacks of sys.monitoring. This file is part of the tracker, and
// is built without Python's headers.
#include <dlfcn.h>

#include <cstddef>
#include <cstring>

#include "tracker/memoir_python.h"
#include "tracker/stacks/call_tracer.h"
#include "tracker/stacks/frame_walk.h"
#include "tracker/stacks/open_calls.h"
#include "tracker/stacks/python_object.h"
#include "tracker/stacks/stack_recorder.h"

namespace {

constexpr int kMethodDefinition = 40;  // offset of the PyMethodDef in a method descriptor; equal in Python 3.12 to 3.14

struct PythonObjects {
  void* none;
  const void *builtin_type, *method_type;
};
constinit PythonObjects python_objects{};

// Calls `record` with the innermost frame of a Python function on this thread, if there is such a frame. Returns None.
template <class Record>
void* OnFrame(Record record) {
  const memoir::FrameLayout* layout = memoir::stack_layout.load(std::memory_order_acquire);
  const char* frame = layout == nullptr ? nullptr : memoir::InnermostOfThread(*layout);
  if (frame != nullptr) frame = memoir::NearestFunctionFrame(*layout, frame);
  if (frame != nullptr) record(*layout, frame);
  return python_objects.none;  // None needs no reference count: it is immortal from Python 3.12 on
}

// Returns true and sets *call if a profile function of sys.setprofile would receive the call: a call of a C function,
// or of a method that a C type defines. `arguments`: the arguments of the event CALL (code, instruction, callable,
// first argument).
bool IsBuiltin(void* const* arguments, std::ptrdiff_t count, memoir::BuiltinCall* call) {
  if (count < 4) return false;
  const auto* called = static_cast<const char*>(arguments[2]);
  const char* type = memoir::PointerAt(called, memoir::kObjectType);
  if (type == python_objects.builtin_type) {
    *call = {memoir::PointerAt(called, memoir::kFunctionDefinition), memoir::PointerAt(called, memoir::kFunctionSelf)};
    return true;
  }
  if (type != python_objects.method_type) return false;
  *call = {memoir::PointerAt(called, kMethodDefinition), static_cast<const char*>(arguments[3])};
  return true;
}

}  // namespace

extern "C" {

int memoir_python_trace_calls(char* problem, size_t size) { return memoir::TraceCalls(problem, size) ? 0 : -1; }

void memoir_python_leave_calls(void) { memoir::LeaveCalls(); }

int memoir_python_monitor_calls(char* problem, size_t size) {
  python_objects = {dlsym(RTLD_DEFAULT, "_Py_NoneStruct"), dlsym(RTLD_DEFAULT, "PyCFunction_Type"),
                    dlsym(RTLD_DEFAULT, "PyMethodDescr_Type")};
  if (memoir::StacksAreRecorded() && python_objects.none != nullptr) return 0;
  constexpr char kWhy[] = "there are no Python stacks either";
  if (size >= sizeof kWhy) std::memcpy(problem, kWhy, sizeof kWhy);
  return -1;
}

void* memoir_python_call(void*, void* const*, ptrdiff_t) {
  return OnFrame([](const memoir::FrameLayout& layout, const char* frame) { memoir::RecordCall(layout, frame); });
}

void* memoir_python_return(void*, void* const*, ptrdiff_t) {
  return OnFrame([](const memoir::FrameLayout& layout, const char* frame) { memoir::RecordReturn(layout, frame); });
}

void* memoir_python_builtin_call(void*, void* const* arguments, ptrdiff_t count) {
  memoir::BuiltinCall call;
  if (!IsBuiltin(arguments, count, &call)) return python_objects.none;
  return OnFrame(
      [&](const memoir::FrameLayout& layout, const char* frame) { memoir::RecordBuiltinCall(layout, frame, call); });
}

void* memoir_python_builtin_return(void*, void* const* arguments, ptrdiff_t count) {
  memoir::BuiltinCall call;
  if (!IsBuiltin(arguments, count, &call)) return python_objects.none;
  return OnFrame(
      [](const memoir::FrameLayout& layout, const char* frame) { memoir::RecordBuiltinReturn(layout, frame); });
}
}
