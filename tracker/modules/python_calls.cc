// The functions that Python calls at each call of a module, and those by which the Python package finds them. Built
// without Python's headers, so that one library serves every version: what is needed of the interpreter comes as
// addresses.
#include <atomic>
#include <string_view>

#include "interpose/errno_keeper.h"
#include "interpose/ring.h"
#include "tracker/memoir_python.h"
#include "tracker/modules/compiler_work.h"
#include "tracker/modules/direct_calls.h"
#include "tracker/modules/held_tensors.h"
#include "tracker/modules/module_calls.h"
#include "tracker/modules/outermost_calls.h"
#include "tracker/stacks/call_tracer.h"

namespace {

constinit memoir_python python{};
constinit std::size_t impl_offset = 0;  // in the object of a tensor; 0: not known
// Calls of modules, some lost where Python has no GIL, and the parts that the capture had at the last look.
constinit std::atomic<std::uint32_t> calls{0};
constinit std::atomic<std::uint64_t> parts{0};

void* None() {
  python.inc_ref(python.none);
  return python.none;
}

std::uint64_t AddressOf(const void* object) { return reinterpret_cast<std::uint64_t>(object); }

// Calls a function of the package, unseen by dynamo: while a compiled function runs, that would compile it, too. False:
// an exception is set (KeyboardInterrupt and its like; others the package keeps to itself).
bool Call(void* function, void* argument) {
  void* before = python.set_eval_frame == nullptr ? nullptr : python.call(python.set_eval_frame, python.none, nullptr);
  if (python.set_eval_frame != nullptr && before == nullptr) return false;
  void* answer = python.call(function, argument, nullptr);
  if (answer != nullptr) python.dec_ref(answer);
  if (before == nullptr) return answer != nullptr;
  // With an exception set nothing may be called; dynamo then stays off until the compiled function is left.
  void* after = answer == nullptr ? nullptr : python.call(python.set_eval_frame, before, nullptr);
  if (after != nullptr) python.dec_ref(after);
  python.dec_ref(before);
  return after != nullptr;
}

void* TypeOf(const void* object) { return static_cast<void* const*>(object)[1]; }  // behind the count of references

bool IsTensor(const void* object) {
  return memoir::IsPlainTensor(object) || python.is_subtype(TypeOf(object), python.tensor_types[0]) != 0;
}

// A module's dict of that name; nullptr: there is something else in its place. To be released.
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

// nullptr: it is none that is looked at.
const void* ImplOf(void* object) {
  if (!IsTensor(object)) return nullptr;
  return *reinterpret_cast<void* const*>(static_cast<const char*>(object) + impl_offset);
}

// Of the first kMostHeld tensors; without any, *count is 0.
std::uint32_t Fingerprint(void* dict, std::size_t* count) {
  const void* impls[memoir::kMostHeld];
  *count = 0;
  std::intptr_t position = 0;
  void *key, *value;
  while (*count < memoir::kMostHeld && python.next_entry(dict, &position, &key, &value) != 0) {
    if (const void* impl = ImplOf(value)) impls[(*count)++] = impl;
  }
  return memoir::FingerprintHeld(impls, *count);
}

std::string_view NameOf(void* key) {
  std::intptr_t size = 0;
  const char* text = python.utf8(key, &size);
  if (text != nullptr) return {text, static_cast<std::size_t>(size)};
  python.clear_error();  // no string, or one that is no Unicode
  return {};
}

// As many tensors as fit, from *position on. False: there are no more behind them.
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

// Apart, because its frame is large, and most calls of modules need none of it.
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

// As a fingerprint: to look would run code of the program's.
constexpr std::uint32_t kNotLookedAt = 1u << 31;

// Records what the module holds when that is not what it held when it was looked at last. Of one with very many
// parameters the first kMostHeld are compared. Buffers are looked at where something is recorded, and at the `first`
// look: a call must not take longer for them.
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

// Whether the capture has a new part, asked every so many calls. All that is held is said again then: parts before it
// may be removed.
bool PartBegan() {
  constexpr std::uint32_t kCalls = 64;
  const std::uint32_t call = calls.load(std::memory_order_relaxed) + 1;
  calls.store(call, std::memory_order_relaxed);
  if (call % kCalls != 0) return false;
  const std::uint64_t now = memoir::RingReadCounters().parts;
  return parts.exchange(now) != now;
}

// False: an exception is set.
bool Enter(void* module) {
  memoir::ModuleTables& tables = memoir::module_tables;
  std::uint32_t id = tables.modules.Find(AddressOf(module));
  const bool look = PartBegan() || tables.look_wanted.load(std::memory_order_relaxed);
  if (id == memoir::AddressTable::kUnknown || look) [[unlikely]] {
    tables.look_wanted.store(false, std::memory_order_relaxed);
    // What it answers is in the table afterwards.
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
  python.dec_ref(local);  // `object` holds it on
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
  memoir::ModuleIsEntered(AddressOf(module));  // first: the step that begins with it may be recorded otherwise
  if (memoir::RangeEpoch() == 0 || memoir::InCompiler()) return None();
  memoir::KeepTracingCalls();
  memoir::ModuleCallBegins();
  if (Enter(module)) return None();
  memoir::ModuleCallEnds();  // the exception ends it
  memoir::ModuleIsLeft();
  return nullptr;
}

void* memoir_python_exit(void*, void* module) {
  const memoir::ErrnoKeeper errno_keeper;
  if (memoir::RangeEpoch() != 0 && !memoir::InCompiler()) {
    memoir::ModuleCallEnds();
    const std::uint32_t id = memoir::module_tables.modules.Find(AddressOf(module));
    if (id != 0 && id != memoir::AddressTable::kUnknown) memoir::RecordModuleExit(id);
  }
  memoir::ModuleIsLeft();
  return None();
}

void memoir_python_compiler(uint32_t depth, const char* begun) { memoir::FollowCompiler(depth, begun); }

void memoir_python_compiled(const char* text) { memoir::NoteCompiled(text); }

void* memoir_python_gone(void*, void* reference) {
  const memoir::ErrnoKeeper errno_keeper;
  return Call(python.gone, reference) ? None() : nullptr;
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
