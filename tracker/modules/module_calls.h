// Records when calls of modules begin and end, and which module a parameter's gradient belongs to.
//
// Knows no Python: modules are addresses that the Python package has given a name (memoir.h). Any thread; while
// ranges are not recorded nothing is done.
#ifndef TRACKER_MODULES_MODULE_CALLS_H_
#define TRACKER_MODULES_MODULE_CALLS_H_

#include <cstdint>

#include "tracker/modules/address_table.h"

namespace memoir {

struct ModuleTables {
  AddressTable modules;     // addresses of Python objects; 0: not recorded
  AddressTable holdings;    // likewise: what held_tensors.h answered when what it holds was recorded last
  AddressTable parameters;  // addresses of TensorImpls
  // How often a parameter of no known module may still ask that modules be looked at again.
  std::atomic<std::uint32_t> looks_left;
  std::atomic<bool> look_wanted;
  std::atomic<std::uint64_t> times_forgotten;
};
extern constinit ModuleTables module_tables;

// Before each recording, since names in the ring mean nothing in the next one.
void ForgetModules();

// `module`: id in the ring's name table.
void RecordModuleEnter(std::uint32_t module);
void RecordModuleExit(std::uint32_t module);

// Inside the range that accumulates a parameter's gradient, right behind its begin: says which module that belongs to.
// The reader ends this one with the range.
void RecordGradientOf(const void* parameter);

}  // namespace memoir

#endif  // TRACKER_MODULES_MODULE_CALLS_H_
