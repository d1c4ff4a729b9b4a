#include "tracker/stacks/call_tracer.h"

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include "interpose/imports/import_slots.h"
#include "tracker/stacks/frame_layout.h"
#include "tracker/stacks/open_calls.h"
#include "tracker/stacks/python_object.h"
#include "tracker/stacks/stack_recorder.h"

namespace memoir {

constinit std::atomic<bool> calls_are_traced{false};

namespace {

using ProfileFunction = int (*)(void* object, void* frame, int what, void* argument);
using Method = void* (*)(void* self, void* argument);

// The events of Python's profile functions that Memoir uses.
enum What : int { kCall = 0, kReturn = 3, kBuiltinCall = 4, kBuiltinException = 5, kBuiltinReturn = 6 };

constexpr int kFunction = 8;  // offset of the C function in a PyMethodDef

struct Python {
  int (*set_profile)(void* thread_state, ProfileFunction function, void* object);  // _PyEval_SetProfile
  int (*set_own_profile)(ProfileFunction function, void* object);  // PyEval_SetProfile, which returns nothing
  void* (*thread_state)();                                         // PyThreadState_Get
  void* (*interpreter)();
  void* (*first_thread)(void* interpreter);
  int (*has_gil)();  // PyGILState_Check
  void* (*next_thread)(void* thread_state);
  void* (*import)(const char* name);
  void* (*attribute)(void* object, const char* name);
  void* (*system_object)(const char* name);
  void (*inc_ref)(void* object);
  void (*dec_ref)(void* object);
  void (*clear_error)();
  void* builtin_type;
  int function, object;  // offsets, in a thread's state, of its profile function and of the function's argument
  // Offset, in a PyFrameObject, of its interpreter frame. -1: the object itself is the frame.
  int frame;
  const char* set_definition;  // the PyMethodDef of sys.setprofile
  Method set;                  // the C function of sys.setprofile, which Memoir replaces
  void* start_thread;          // the C function of _thread.start_new_thread
};
constinit Python python{};

// The profile functions that Memoir's functions have replaced. others[0] is unused.
constexpr std::size_t kMostOthers = 8;
constinit std::array<std::atomic<ProfileFunction>, kMostOthers> others{};
// For each function of `others`: true if a library has set it with _PyEval_SetProfile, for one thread.
constinit std::array<std::atomic<bool>, kMostOthers> set_by_thread{};

// True from the moment when sys.setprofile has set a profile function until sys.setprofile returns. Memoir hides this
// return from the new profile function, because Python without Memoir would not report it to this function either.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool hides_return = false;

const char* FrameIn(void* frame) {
  return python.frame < 0 ? static_cast<const char*>(frame) : PointerAt(frame, python.frame);
}

void TraceAllThreads();

// Records the event. Returns true if the event must be hidden from the other profile function.
bool RecordEvent(void* frame, int what, void* argument) {
  const FrameLayout* layout = stack_layout.load(std::memory_order_acquire);
  if (layout == nullptr || !calls_are_traced.load(std::memory_order_relaxed)) return false;
  const char* at = FrameIn(frame);
  switch (what) {
    case kCall:
      RecordCall(*layout, at);
      return false;
    case kReturn:
      RecordReturn(*layout, at);
      return false;
    case kBuiltinCall:
      RecordBuiltinCall(*layout, at, {PointerAt(argument, kFunctionDefinition), PointerAt(argument, kFunctionSelf)});
      return false;
    case kBuiltinException:
    case kBuiltinReturn:
      RecordBuiltinReturn(*layout, at);
      if (PointerAt(PointerAt(argument, kFunctionDefinition), kFunction) == python.start_thread) TraceAllThreads();
      return hides_return && PointerAt(argument, kFunctionDefinition) == python.set_definition &&
             std::exchange(hides_return, false);
    default:
      return false;
  }
}

// The profile functions of Memoir. Each function records the event. All except the function with kNumber 0 then call
// the function in others[kNumber].
template <std::size_t kNumber>
int Profile(void* object, void* frame, int what, void* argument) {
  const bool hidden = RecordEvent(frame, what, argument);
  if constexpr (kNumber == 0) return 0;
  const ProfileFunction other = others[kNumber].load(std::memory_order_relaxed);
  return hidden || other == nullptr ? 0 : other(object, frame, what, argument);
}

template <std::size_t... kNumbers>
constexpr std::array<ProfileFunction, kMostOthers> AllOf(std::index_sequence<kNumbers...>) {
  return {&Profile<kNumbers>...};
}
constexpr std::array<ProfileFunction, kMostOthers> kOurs = AllOf(std::make_index_sequence<kMostOthers>());

// Returns the index of `function` in kOurs; kMostOthers if it is not a function of Memoir.
std::size_t NumberOf(ProfileFunction function) {
  std::size_t number = 0;
  while (number < kMostOthers && kOurs[number] != function) ++number;
  return number;
}

// Returns the function of Memoir that calls `other`; nullptr if there are too many other profile functions. A function
// of Memoir is returned unchanged: if Python is a shared library, PyEval_SetProfile itself calls _PyEval_SetProfile
// through an import slot, and passes Memoir's function.
ProfileFunction InPlaceOf(ProfileFunction other) {
  if (other == nullptr) return kOurs[0];
  if (NumberOf(other) != kMostOthers) return other;
  for (std::size_t i = 1; i < kMostOthers; ++i) {
    const ProfileFunction known = others[i].load(std::memory_order_relaxed);
    if (known == nullptr) others[i].store(other, std::memory_order_relaxed);
    if (known == nullptr || known == other) return kOurs[i];
  }
  return nullptr;
}

ProfileFunction FunctionOf(void* state) {
  return reinterpret_cast<ProfileFunction>(const_cast<char*>(PointerAt(state, python.function)));
}

// Sets the profile function of the thread `state`, and keeps the function's argument. False if the program refused it.
bool Set(void* state, ProfileFunction function) {
  auto* object = const_cast<char*>(PointerAt(state, python.object));
  if (object != nullptr) python.inc_ref(object);  // because set_profile first releases the thread's reference to it
  const bool done = python.set_profile(state, function, object) == 0;
  if (!done) python.clear_error();  // an audit hook of the program has refused the change
  if (object != nullptr) python.dec_ref(object);
  return done;
}

// Puts a function of Memoir in place of the profile function of the thread `state`, unless it is there already. False
// if that failed.
bool Trace(void* state) {
  const ProfileFunction there = FunctionOf(state);
  if (NumberOf(there) != kMostOthers) return true;
  const ProfileFunction ours = InPlaceOf(there);
  return ours != nullptr && Set(state, ours);
}

void TraceAllThreads() {
  for (void* state = python.first_thread(python.interpreter()); state != nullptr; state = python.next_thread(state))
    Trace(state);
}

// The C function that replaces the one of sys.setprofile.
void* SetBySystem(void* self, void* argument) {
  if (!calls_are_traced.load(std::memory_order_relaxed)) return python.set(self, argument);
  void* state = python.thread_state();
  // False if the program had set no profile function when this call of sys.setprofile began. Without Memoir, Python
  // would then report the call's return to no profile function.
  const bool was_profiled = NumberOf(FunctionOf(state)) != 0;
  void* answer = python.set(self, argument);
  if (answer == nullptr) return nullptr;
  Trace(state);
  hides_return = !was_profiled && NumberOf(FunctionOf(state)) != 0;
  return answer;
}

// Replacements in import slots of libraries: SetForThread for _PyEval_SetProfile, SetByLibrary for PyEval_SetProfile.
int SetForThread(void* state, ProfileFunction function, void* object) {
  const ProfileFunction ours = calls_are_traced.load(std::memory_order_relaxed) ? InPlaceOf(function) : nullptr;
  const bool is_other = ours != nullptr && ours != function && ours != kOurs[0];
  if (is_other) set_by_thread[NumberOf(ours)].store(true, std::memory_order_relaxed);
  return python.set_profile(state, ours == nullptr ? function : ours, object);
}
void SetByLibrary(ProfileFunction function, void* object) {
  const ProfileFunction ours = calls_are_traced.load(std::memory_order_relaxed) ? InPlaceOf(function) : nullptr;
  python.set_own_profile(ours == nullptr ? function : ours, object);
}

// Returns true if `code` belongs to Python itself. Python may also call its own functions through import slots.
bool IsPythons(const void* code) {
  Dl_info of_code{}, of_python{};
  return dladdr(code, &of_code) != 0 && dladdr(reinterpret_cast<const void*>(python.first_thread), &of_python) != 0 &&
         of_code.dli_fbase == of_python.dli_fbase;
}

// The function to which the import slot of PyInterpreterState_ThreadHead points in libraries. When torch.profiler of
// torch 2.11 stops, it visits all threads, and removes its profile function from each thread that has it
// (PythonTracer::stop). So this function first restores, on each thread, the profile function that Memoir had replaced.
// torch 2.15 also visits all threads when its profiler starts, without reading their profile functions. A thread that
// is left without Memoir's function gets it back at its next module call.
void* FirstThreadForLibrary(void* interpreter) {
  void* const first = python.first_thread(interpreter);
  if (!calls_are_traced.load(std::memory_order_relaxed) || python.has_gil() == 0) return first;
  if (IsPythons(__builtin_return_address(0))) return first;
  for (void* state = first; state != nullptr; state = python.next_thread(state)) {
    const std::size_t number = NumberOf(FunctionOf(state));
    if (number == 0 || number == kMostOthers || set_by_thread[number].load(std::memory_order_relaxed)) continue;
    Set(state, others[number].load(std::memory_order_relaxed));
  }
  return first;
}

template <class Function>
bool Find(const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return *function != nullptr;
}

bool FindFunctions() {
  return Find("_PyEval_SetProfile", &python.set_profile) && Find("PyEval_SetProfile", &python.set_own_profile) &&
         Find("PyThreadState_Get", &python.thread_state) && Find("PyInterpreterState_Main", &python.interpreter) &&
         Find("PyInterpreterState_ThreadHead", &python.first_thread) && Find("PyGILState_Check", &python.has_gil) &&
         Find("PyThreadState_Next", &python.next_thread) && Find("PyImport_ImportModule", &python.import) &&
         Find("PyObject_GetAttrString", &python.attribute) && Find("PySys_GetObject", &python.system_object) &&
         Find("Py_IncRef", &python.inc_ref) && Find("Py_DecRef", &python.dec_ref) &&
         Find("PyErr_Clear", &python.clear_error) && Find("PyCFunction_Type", &python.builtin_type);
}

// Sets the offsets for this version of PyThreadState and PyFrameObject. The offsets are from Python's headers.
bool FindOffsets() {
  const auto* version = static_cast<const unsigned long*>(dlsym(RTLD_DEFAULT, "Py_Version"));  // since 3.11
  const bool is_310 = version == nullptr;
  if (!is_310 && *version >> 16 != 0x030b) return false;
  python.function = is_310 ? 56 : 64;
  python.object = is_310 ? 72 : 80;
  python.frame = is_310 ? -1 : 24;
  return true;
}

bool IsBuiltin(const void* object) {
  return object != nullptr && PointerAt(object, kObjectType) == python.builtin_type;
}

void FindStartThread() {
  void* module = python.import("_thread");
  void* start = module == nullptr ? nullptr : python.attribute(module, "start_new_thread");
  if (IsBuiltin(start))
    python.start_thread = const_cast<char*>(PointerAt(PointerAt(start, kFunctionDefinition), kFunction));
  if (start == nullptr) python.clear_error();
  if (start != nullptr) python.dec_ref(start);
  if (module != nullptr) python.dec_ref(module);
}

// Replaces the C function of sys.setprofile. If another tool has replaced sys.setprofile itself, nothing is changed.
// At the next module call Memoir then finds a profile function that this tool has set, as it does for cProfile.
void StandInForSetProfile() {
  void* set = python.system_object("setprofile");
  if (!IsBuiltin(set)) return;
  const char* definition = PointerAt(set, kFunctionDefinition);
  char* function = const_cast<char*>(PointerAt(definition, kFunction));
  if (reinterpret_cast<Method>(function) == &SetBySystem) return;
  python.set = reinterpret_cast<Method>(function);
  python.set_definition = definition;
  const Method ours = &SetBySystem;
  std::memcpy(const_cast<char*>(definition) + kFunction, static_cast<const void*>(&ours), sizeof ours);
}

void StandInForLibraries() {
  RedirectImports("PyInterpreterState_ThreadHead", reinterpret_cast<const void*>(python.first_thread),
                  reinterpret_cast<void*>(&FirstThreadForLibrary));
  RedirectImports("PyEval_SetProfile", reinterpret_cast<const void*>(python.set_own_profile),
                  reinterpret_cast<void*>(&SetByLibrary));
  RedirectImports("_PyEval_SetProfile", reinterpret_cast<const void*>(python.set_profile),
                  reinterpret_cast<void*>(&SetForThread));
}

bool Refuse(char* problem, std::size_t size, const char* why) {
  calls_are_traced.store(false, std::memory_order_relaxed);
  std::snprintf(problem, size, "%s", why);
  return false;
}

}  // namespace

bool TraceCalls(char* problem, std::size_t size) {
  if (!StacksAreRecorded()) return Refuse(problem, size, "there are no Python stacks either");
  if (!FindFunctions() || !FindOffsets())
    return Refuse(problem, size, "where this Python keeps its profile functions is not known");
  void* state = python.thread_state();
  calls_are_traced.store(true, std::memory_order_relaxed);
  FindStartThread();
  if (!Trace(state)) return Refuse(problem, size, "Python refused to set a profile function");
  if (NumberOf(FunctionOf(state)) == kMostOthers)
    return Refuse(problem, size, "this Python keeps its profile functions elsewhere than its version does");
  StandInForSetProfile();
  StandInForLibraries();
  TraceAllThreads();
  return true;
}

void LeaveCalls() {
  if (!calls_are_traced.exchange(false, std::memory_order_relaxed)) return;
  for (void* state = python.first_thread(python.interpreter()); state != nullptr; state = python.next_thread(state)) {
    const std::size_t number = NumberOf(FunctionOf(state));
    if (number != kMostOthers) Set(state, others[number].load(std::memory_order_relaxed));
  }
}

void RestoreCallTracing() { Trace(python.thread_state()); }

}  // namespace memoir
