// Implements the part of the C interface (tracker/memoir.h) for modules and optimizers. The Python package and libtorch
// programs call these functions.
#include <cstddef>
#include <string_view>

#include "interpose/ring/ring.h"
#include "interpose/system/errno_keeper.h"
#include "tracker/memoir.h"
#include "tracker/modules/module_calls.h"
#include "tracker/modules/named_tensors.h"

namespace {

// Copies as many tensors as fit into `taken`, from *next on. Returns true if tensors are left.
bool Take(const memoir_held* held, std::size_t count, std::size_t* next, memoir::NamedTensors* taken) {
  taken->Clear();
  for (; *next < count; ++*next) {
    const memoir_held& one = held[*next];
    if (!taken->Add(one.tensor, one.name == nullptr ? std::string_view() : one.name)) return true;
  }
  return false;
}

// Sets the module of each parameter that has no module yet. So a tied parameter belongs to the module that was reported
// first.
void NameParameters(std::uint32_t module, const memoir_held* parameters, std::size_t count) {
  memoir::AddressTable& known = memoir::module_tables.parameters;
  for (std::size_t i = 0; i < count; ++i) {
    const auto address = reinterpret_cast<std::uint64_t>(parameters[i].tensor);
    if (known.Find(address) == memoir::AddressTable::kUnknown) known.Set(address, module);
  }
}

}  // namespace

extern "C" {

uint32_t memoir_define_module(const char* root, const char* path, const char* class_name) {
  return memoir::RingDefineModule(root, path, class_name);
}

void memoir_enter_module(uint32_t module) {
  if (module != 0) memoir::RecordModuleEnter(module);
}

void memoir_exit_module(uint32_t module) {
  if (module != 0) memoir::RecordModuleExit(module);
}

void memoir_module_holds(uint32_t module, const struct memoir_held* parameters, size_t parameter_count,
                         const struct memoir_held* buffers, size_t buffer_count) {
  const memoir::ErrnoKeeper errno_keeper;
  if (module == 0 || memoir::RangeEpoch() == 0) return;
  NameParameters(module, parameters, parameter_count);
  memoir::NamedTensors own_parameters, own_buffers;
  std::size_t parameter = 0, buffer = 0;
  bool more = false, first = true;
  do {
    more = Take(parameters, parameter_count, &parameter, &own_parameters);
    more = Take(buffers, buffer_count, &buffer, &own_buffers) || more;
    memoir::RecordModuleHolds(module, own_parameters, own_buffers, !first);
    first = false;
  } while (more);
}

int memoir_set_parameter(uint64_t tensor, uint32_t module) {
  return memoir::module_tables.parameters.Set(tensor, module) ? 0 : -1;
}

void memoir_forget_parameter(uint64_t tensor, uint32_t module) {
  memoir::module_tables.parameters.Forget(tensor, module);
}

void memoir_optimizer_holds(uint64_t optimizer, const void* const* parameters, size_t count, const void* const* state,
                            const uint32_t* state_counts, int more) {
  const memoir::ErrnoKeeper errno_keeper;
  if (count <= memoir::kMostOptimized)
    memoir::RecordOptimizerHolds(optimizer, parameters, count, state, state_counts, more != 0);
}

uint64_t memoir_recordings(void) { return memoir::module_tables.times_forgotten.load(std::memory_order_acquire); }

uint64_t memoir_parts(void) { return memoir::RingReadCounters().parts; }
}
