// Implements the part of tracker/memoir_python.h for modules: the functions that Python calls at each call of a module,
// and the functions with which the Python package sets them up. This file is built without Python's headers, so that
// one library serves every version of Python. The Python package passes the addresses of the interpreter's functions.
#include <atomic>
#include <string_view>

#include "interpose/ring/ring.h"
#include "interpose/system/errno_keeper.h"
#include "tracker/memoir_python.h"
#include "tracker/modules/compiler_work.h"
#include "tracker/modules/direct_calls.h"
#include "tracker/modules/module_calls.h"
#include "tracker/modules/named_tensors.h"
#include "tracker/modules/outermost_calls.h"
#include "tracker/modules/unseen_calls.h"
#include "tracker/stacks/call_tracer.h"

namespace {

constinit memoir_python python{};
constinit std::size_t impl_offset = 0;  // offset of the TensorImpl's address in a Python tensor; 0: unknown
// `calls`: number of module calls, inexact if Python has no GIL. `parts`: number of the capture's parts when PartBegan
// last compared it.
constinit std::atomic<std::uint32_t> calls{0};
constinit std::atomic<std::uint64_t> parts{0};

void* None() {
  python.inc_ref(python.none);
  return python.none;
}

std::uint64_t AddressOf(const void* object) { return reinterpret_cast<std::uint64_t>(object); }

// Calls a function of the Python package. False if an exception is set. This is an exception such as KeyboardInterrupt,
// because the package handles other exceptions itself.
bool Call(void* function, void* argument) { return memoir::CallUnseen(function, argument, python.set_eval_frame); }

void* TypeOf(const void* object) { return static_cast<void* const*>(object)[1]; }  // after the reference count

bool IsTensor(const void* object) {
  return memoir::IsPlainTensor(object) || python.is_subtype(TypeOf(object), python.tensor_types[0]) != 0;
}

// Returns a new reference to the module's attribute `name`, if it is a dict; otherwise nullptr.
void* OwnDict(void* module, void* name) {
  void* dict = python.generic_attribute(module, name);
  if (dict != nullptr && TypeOf(dict) == python.dict_type) return dict;
  if (dict == nullptr) {
    python.clear_error();
  } else {
    python.dec_ref(dict);
  }
  return nullptr;
}

// Returns the TensorImpl of a Python tensor. nullptr if `object` is not a tensor.
const void* ImplOf(void* object) {
  if (!IsTensor(object)) return nullptr;
  return *reinterpret_cast<void* const*>(static_cast<const char*>(object) + impl_offset);
}

// Returns the result of FingerprintParameters for the first kMostHeld tensors in `dict`. Sets *count to the number of
// these tensors.
std::uint32_t Fingerprint(void* dict, std::size_t* count) {
  const void* impls[memoir::kMostHeld];
  *count = 0;
  std::intptr_t position = 0;
  void *key, *value;
  while (*count < memoir::kMostHeld && python.next_entry(dict, &position, &key, &value) != 0) {
    if (const void* impl = ImplOf(value)) impls[(*count)++] = impl;
  }
  return memoir::FingerprintParameters(impls, *count);
}

std::string_view NameOf(void* key) {
  std::intptr_t size = 0;
  const char* text = python.utf8(key, &size);
  if (text != nullptr) return {text, static_cast<std::size_t>(size)};
  python.clear_error();  // not a string, or not valid Unicode
  return {};
}

// Copies as many tensors as fit into `held`, from *position on. Returns true if tensors are left.
bool Take(void* dict, std::intptr_t* position, memoir::NamedTensors* held) {
  held->Clear();
  if (dict == nullptr) return false;
  void *key, *value;
  for (std::intptr_t next = *position; python.next_entry(dict, &next, &key, &value) != 0; *position = next) {
    const void* impl = ImplOf(value);
    if (impl != nullptr && !held->Add(impl, NameOf(key))) return true;
  }
  return false;
}

// Records the tensors in a module's dicts. This is a separate function, because its stack frame is large, and most
// module calls do not need it.
[[gnu::noinline]] void RecordHeld(void* parameters, void* buffers, std::uint32_t id) {
  memoir::NamedTensors own_parameters, own_buffers;
  std::intptr_t parameter = 0, buffer = 0;
  bool more = false, first = true;
  do {
    more = Take(parameters, &parameter, &own_parameters);
    more = Take(buffers, &buffer, &own_buffers) || more;
    memoir::RecordModuleHolds(id, own_parameters, own_buffers, !first);
    first = false;
  } while (more);
}

// Stored instead of the fingerprint of a module whose tensors are never read, because reading them would run code of
// the program.
constexpr std::uint32_t kNotLookedAt = 1u << 31;

// Records the tensors of a module if its parameters have changed, or if `first` is true. Only the first kMostHeld
// parameters are compared. Buffers are not compared, because each module call would take longer; they are read only
// when the parameters have changed or `first` is true.
void LookAtHeld(void* module, std::uint32_t id, bool first) {
  if (impl_offset == 0) return;
  memoir::AddressTable& holdings = memoir::module_tables.holdings;
  const std::uint32_t before = holdings.Find(AddressOf(module));
  if (before == kNotLookedAt) return;
  void* parameters = OwnDict(module, python.parameters);
  if (parameters == nullptr) return;
  std::size_t count;
  const std::uint32_t fingerprint = Fingerprint(parameters, &count);
  const bool none_known = count == 0 && before == memoir::AddressTable::kUnknown;
  if (first || (before != fingerprint && !none_known)) {
    void* buffers = OwnDict(module, python.buffers);
    std::size_t buffer_count = 0;
    if (buffers != nullptr && none_known) Fingerprint(buffers, &buffer_count);
    const bool any = !none_known || buffer_count > 0;
    if (any && holdings.Set(AddressOf(module), fingerprint)) RecordHeld(parameters, buffers, id);
    if (buffers != nullptr) python.dec_ref(buffers);
  }
  python.dec_ref(parameters);
}

// Returns true if the capture has a new part. All tensors are then recorded again, because earlier parts may be
// evicted. Only every kCalls-th call compares the number of parts; the others return false.
bool PartBegan() {
  constexpr std::uint32_t kCalls = 64;
  const std::uint32_t call = calls.load(std::memory_order_relaxed) + 1;
  calls.store(call, std::memory_order_relaxed);
  if (call % kCalls != 0) return false;
  const std::uint64_t now = memoir::RingReadCounters().parts;
  return parts.exchange(now) != now;
}

// Begins a module call. False if an exception is set.
bool Enter(void* module) {
  memoir::ModuleTables& tables = memoir::module_tables;
  std::uint32_t id = tables.modules.Find(AddressOf(module));
  const bool look = PartBegan() || tables.reread_requested.load(std::memory_order_relaxed);
  if (id == memoir::AddressTable::kUnknown || look) [[unlikely]] {
    tables.reread_requested.store(false, std::memory_order_relaxed);
    // The package's function stores the module's id in the table.
    if (!Call(python.resolve, module)) return false;
    id = tables.modules.Find(AddressOf(module));
  }
  if (id != 0 && id != memoir::AddressTable::kUnknown) {
    LookAtHeld(module, id, false);
    memoir::RecordModuleEnter(id);
  }
  return true;
}

}  // namespace

namespace memoir {

bool IsPlainTensor(const void* object) {
  const void* type = TypeOf(object);
  return type == python.tensor_types[0] || type == python.tensor_types[1];
}

const void* LocalImpl(void* object) {
  void* local = python.generic_attribute(object, python.local_tensor);
  if (local == nullptr) {
    python.clear_error();
    return nullptr;
  }
  const void* impl = ImplOf(local);
  python.dec_ref(local);  // `object` keeps the local tensor alive
  return impl;
}

}  // namespace memoir

extern "C" {

void memoir_python_setup(const struct memoir_python* interpreter) {
  python = *interpreter;
  parts = memoir::RingReadCounters().parts;
  memoir::ForgetModules();
}

void memoir_python_tensor_layout(size_t offset) { impl_offset = offset; }

void memoir_python_look_at_frames(const struct memoir_python_frames* layout) { memoir::SetPythonFrames(layout); }

void* memoir_python_enter(void*, void* module) {
  const memoir::ErrnoKeeper errno_keeper;
  // NoteModuleEntered may begin a step, and a step may change the level. So the level is tested after this call.
  memoir::NoteModuleEntered(AddressOf(module));
  if (memoir::RangeEpoch() == 0 || memoir::InCompiler()) return None();
  memoir::KeepTracingCalls();
  memoir::BeginModuleCall();
  if (Enter(module)) return None();
  memoir::EndModuleCall();  // because the exception ends the module call
  memoir::NoteModuleLeft();
  return nullptr;
}

void* memoir_python_exit(void*, void* module) {
  const memoir::ErrnoKeeper errno_keeper;
  if (memoir::RangeEpoch() != 0 && !memoir::InCompiler()) {
    memoir::EndModuleCall();
    const std::uint32_t id = memoir::module_tables.modules.Find(AddressOf(module));
    if (id != 0 && id != memoir::AddressTable::kUnknown) memoir::RecordModuleExit(id);
  }
  memoir::NoteModuleLeft();
  return None();
}

void memoir_python_compiler(uint32_t depth, const char* begun) { memoir::FollowCompiler(depth, begun); }

void memoir_python_compiled(const char* text) { memoir::NoteCompiled(text); }

void* memoir_python_gone(void*, void* reference) {
  const memoir::ErrnoKeeper errno_keeper;
  return Call(python.gone, reference) ? None() : nullptr;
}

void* memoir_python_between_unseen(void* functions, void* arguments, void* named) {
  return memoir::CallBetweenUnseen(functions, arguments, named);
}

void* memoir_python_in_dynamo(void*, void* const*, size_t, void*) {
  python.inc_ref(python.no);
  return python.no;
}

int memoir_set_module(uint64_t object, uint32_t module) {
  return memoir::module_tables.modules.Set(object, module) ? 0 : -1;
}

void memoir_forget_module(uint64_t object) {
  memoir::module_tables.modules.Forget(object, memoir::AddressTable::kUnknown);
  memoir::module_tables.holdings.Forget(object, memoir::AddressTable::kUnknown);
}

void memoir_look_at_module(uint64_t object, uint32_t module) {
  const memoir::ErrnoKeeper errno_keeper;
  if (memoir::RangeEpoch() == 0) return;
  if (module == 0) {
    memoir::module_tables.holdings.Set(object, kNotLookedAt);
  } else {
    LookAtHeld(reinterpret_cast<void*>(object), module, true);
  }
}
}
