// The functions that Python calls at each call of a module, and those by which the Python package names modules. Built
// without Python's headers, so that one library serves every version: what is needed of the interpreter comes as
// addresses.
#include "interpose/errno_keeper.h"
#include "interpose/ring.h"
#include "tracker/memoir.h"
#include "tracker/modules/direct_calls.h"
#include "tracker/modules/held_tensors.h"
#include "tracker/modules/module_calls.h"

namespace {

constinit memoir_python python{};
constinit std::size_t impl_offset = 0;  // in the object of a tensor; 0: not known

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

bool IsTensor(const void* object) {
  const void* type = static_cast<void* const*>(object)[1];  // behind the count of references
  return type == python.tensor_types[0] || type == python.tensor_types[1];
}

// The parameters of a module's own, from entry `position` on, at most kMostHeld.
std::size_t TakeParameters(void* dict, std::intptr_t* position, const void** impls) {
  std::size_t count = 0;
  void *key, *value;
  while (count < memoir::kMostHeld && python.next_entry(dict, position, &key, &value) != 0) {
    if (!IsTensor(value)) continue;
    const void* impl = *reinterpret_cast<void* const*>(static_cast<const char*>(value) + impl_offset);
    if (impl != nullptr) impls[count++] = impl;
  }
  return count;
}

void RecordHeld(void* dict, std::uint32_t id) {
  const void* impls[memoir::kMostHeld];
  std::intptr_t position = 0;
  bool more = false;
  do {
    const std::size_t count = TakeParameters(dict, &position, impls);
    if (more && count == 0) return;
    memoir::RecordModuleHolds(id, impls, count, more);
    more = count == memoir::kMostHeld;
  } while (more);
}

// Records what the module holds when that is not what it held at its last call. Of one with very many parameters the
// first kMostHeld are compared.
void LookAtHeld(void* module, std::uint32_t id) {
  if (impl_offset == 0) return;
  void* dict = python.generic_attribute(module, python.parameters);
  if (dict == nullptr) return python.clear_error();
  if (static_cast<void**>(dict)[1] == python.dict_type) {
    const void* impls[memoir::kMostHeld];
    std::intptr_t position = 0;
    const std::size_t count = TakeParameters(dict, &position, impls);
    memoir::AddressTable& holdings = memoir::module_tables.holdings;
    const std::uint32_t fingerprint = memoir::FingerprintHeld(impls, count);
    const std::uint32_t before = holdings.Find(AddressOf(module));
    const bool never_any = count == 0 && before == memoir::AddressTable::kUnknown;
    if (before != fingerprint && !never_any && holdings.Set(AddressOf(module), fingerprint)) RecordHeld(dict, id);
  }
  python.dec_ref(dict);
}

// False: an exception is set.
bool Enter(void* module) {
  memoir::ModuleTables& tables = memoir::module_tables;
  std::uint32_t id = tables.modules.Find(AddressOf(module));
  const bool look = tables.look_wanted.load(std::memory_order_relaxed);
  if (id == memoir::AddressTable::kUnknown || look) [[unlikely]] {
    tables.look_wanted.store(false, std::memory_order_relaxed);
    // What it answers is in the table afterwards.
    if (!Call(python.resolve, module)) return false;
    id = tables.modules.Find(AddressOf(module));
  }
  if (id != 0 && id != memoir::AddressTable::kUnknown) {
    LookAtHeld(module, id);
    memoir::RecordModuleEnter(id);
  }
  return true;
}

}  // namespace

extern "C" {

void memoir_python_setup(const struct memoir_python* interpreter) {
  python = *interpreter;
  memoir::ForgetModules();
}

void memoir_python_tensor_layout(size_t offset) { impl_offset = offset; }

void memoir_python_look_at_frames(const struct memoir_python_frames* layout) { memoir::SetPythonFrames(layout); }

void* memoir_python_enter(void*, void* module) {
  const memoir::ErrnoKeeper errno_keeper;
  if (memoir::RangeEpoch() == 0) return None();
  memoir::ModuleCallBegins();
  if (Enter(module)) return None();
  memoir::ModuleCallEnds();  // the exception ends it
  return nullptr;
}

void* memoir_python_exit(void*, void* module) {
  const memoir::ErrnoKeeper errno_keeper;
  if (memoir::RangeEpoch() != 0) {
    memoir::ModuleCallEnds();
    const std::uint32_t id = memoir::module_tables.modules.Find(AddressOf(module));
    if (id != 0 && id != memoir::AddressTable::kUnknown) memoir::RecordModuleExit(id);
  }
  return None();
}

void* memoir_python_gone(void*, void* reference) {
  const memoir::ErrnoKeeper errno_keeper;
  return Call(python.gone, reference) ? None() : nullptr;
}

uint32_t memoir_define_module(const char* root, const char* path, const char* class_name) {
  return memoir::RingDefineModule(root, path, class_name);
}

void memoir_enter_module(uint32_t module) {
  if (module != 0) memoir::RecordModuleEnter(module);
}

void memoir_exit_module(uint32_t module) {
  if (module != 0) memoir::RecordModuleExit(module);
}

int memoir_set_module(uint64_t object, uint32_t module) {
  return memoir::module_tables.modules.Set(object, module) ? 0 : -1;
}

void memoir_forget_module(uint64_t object) {
  memoir::module_tables.modules.Forget(object, memoir::AddressTable::kUnknown);
  memoir::module_tables.holdings.Forget(object, memoir::AddressTable::kUnknown);
}

void memoir_optimizer_holds(uint64_t optimizer, const void* const* parameters, size_t count, const void* const* state,
                            size_t states, int more) {
  const memoir::ErrnoKeeper errno_keeper;
  if (count <= memoir::kMostHeld && states <= memoir::kMostHeld)
    memoir::RecordOptimizerHolds(optimizer, parameters, count, state, states, more != 0);
}

int memoir_set_parameter(uint64_t tensor, uint32_t module) {
  return memoir::module_tables.parameters.Set(tensor, module) ? 0 : -1;
}

void memoir_forget_parameter(uint64_t tensor, uint32_t module) {
  memoir::module_tables.parameters.Forget(tensor, module);
}
}
