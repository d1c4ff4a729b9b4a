#include "tracker/modules/unseen_calls.h"

#include <dlfcn.h>

#include <cstdint>

#include "interpose/system/errno_keeper.h"

namespace memoir {
namespace {

// The functions and objects of the interpreter. This library is built without Python's headers, so that it serves every
// version of Python.
struct Python {
  void* none;                            // Py_None
  void* (*thread)();                     // PyThreadState_Get
  void (*pause_tracing)(void* thread);   // PyThreadState_EnterTracing; nullptr before Python 3.11
  void (*resume_tracing)(void* thread);  // PyThreadState_LeaveTracing; nullptr before Python 3.11
  void* (*call)(void*, void*, void*);    // PyObject_Call
  void* (*call_with)(void*, ...);        // PyObject_CallFunctionObjArgs
  void* (*pack)(std::intptr_t, ...);     // PyTuple_Pack
  void* (*item)(void*, std::intptr_t);   // PyTuple_GetItem
  void (*inc_ref)(void*);                // Py_IncRef
  void (*dec_ref)(void*);                // Py_DecRef
};

template <typename Function>
void Find(const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

Python FindPython() {
  Python found{};
  found.none = dlsym(RTLD_DEFAULT, "_Py_NoneStruct");
  Find("PyThreadState_Get", &found.thread);
  Find("PyThreadState_EnterTracing", &found.pause_tracing);
  Find("PyThreadState_LeaveTracing", &found.resume_tracing);
  Find("PyObject_Call", &found.call);
  Find("PyObject_CallFunctionObjArgs", &found.call_with);
  Find("PyTuple_Pack", &found.pack);
  Find("PyTuple_GetItem", &found.item);
  Find("Py_IncRef", &found.inc_ref);
  Find("Py_DecRef", &found.dec_ref);
  return found;
}

// Returns the functions and objects of the interpreter, which the first call looks up. The interpreter is loaded by
// then, because only Python programs call the functions of this file.
const Python& Interpreter() {
  static const Python python = FindPython();
  return python;
}

// Pauses the program's trace and profile functions on this thread until the end of the scope.
class TracingPaused {
 public:
  explicit TracingPaused(const Python& python) : python_(python), thread_(python.thread()) {
    if (python_.pause_tracing != nullptr) python_.pause_tracing(thread_);
  }
  ~TracingPaused() {
    if (python_.resume_tracing != nullptr) python_.resume_tracing(thread_);
  }
  TracingPaused(const TracingPaused&) = delete;
  TracingPaused& operator=(const TracingPaused&) = delete;

 private:
  const Python& python_;
  void* const thread_;
};

}  // namespace

bool CallUnseen(void* function, void* arguments, void* named, void* set_eval_frame) {
  const Python& python = Interpreter();
  const ErrnoKeeper errno_keeper;
  const TracingPaused paused(python);
  void* before = set_eval_frame == nullptr ? nullptr : python.call_with(set_eval_frame, python.none, nullptr);
  if (set_eval_frame != nullptr && before == nullptr) return false;
  void* answer = python.call(function, arguments, named);
  if (answer != nullptr) python.dec_ref(answer);
  if (before == nullptr) return answer != nullptr;
  // While an exception is set, set_eval_frame must not be called. So after an exception dynamo stays off until the
  // compiled function that contains this call ends.
  void* after = answer == nullptr ? nullptr : python.call_with(set_eval_frame, before, nullptr);
  if (after != nullptr) python.dec_ref(after);
  python.dec_ref(before);
  return after != nullptr;
}

bool CallUnseen(void* function, void* argument, void* set_eval_frame) {
  const Python& python = Interpreter();
  void* arguments = python.pack(1, argument);
  if (arguments == nullptr) return false;
  const bool returned = CallUnseen(function, arguments, nullptr, set_eval_frame);
  python.dec_ref(arguments);
  return returned;
}

void* CallBetweenUnseen(void* functions, void* arguments, void* named) {
  const Python& python = Interpreter();
  void* items[4];
  for (int i = 0; i < 4; ++i) {
    items[i] = python.item(functions, i);
    if (items[i] == python.none) items[i] = nullptr;
  }
  const auto [original, before, after, set_eval_frame] = items;
  if (before != nullptr && !CallUnseen(before, arguments, named, set_eval_frame)) return nullptr;
  void* answer = python.none;
  if (original == nullptr) {
    python.inc_ref(answer);
  } else if (answer = python.call(original, arguments, named); answer == nullptr) {
    return nullptr;
  }
  if (after == nullptr || CallUnseen(after, arguments, named, set_eval_frame)) return answer;
  python.dec_ref(answer);
  return nullptr;
}

}  // namespace memoir
