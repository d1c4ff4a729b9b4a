// Records when calls of modules begin and end, and which module a parameter's gradient belongs to.
//
// Calls nothing of Python: a module is an address, for which the Python package has set an id (memoir_python.h). Any
// thread. Does nothing while ranges are not recorded.
#ifndef TRACKER_MODULES_MODULE_CALLS_H_
#define TRACKER_MODULES_MODULE_CALLS_H_

#include <cstdint>

#include "tracker/modules/address_table.h"

namespace memoir {

struct ModuleTables {
  AddressTable modules;  // the id of the module, by the address of the Python object; 0: not recorded
  // The FingerprintParameters() of each module's newest record, by the address of the module's Python object.
  AddressTable holdings;
  AddressTable parameters;  // the id of the parameter's module, by the address of the TensorImpl
  // How often a parameter without a known module may still request that the tensors of modules are read again.
  std::atomic<std::uint32_t> looks_left;
  std::atomic<bool> look_wanted;
  std::atomic<std::uint64_t> times_forgotten;
};
extern constinit ModuleTables module_tables;

// Forgets all modules and parameters. Call it before each recording, because the ids of names in the previous ring are
// invalid.
void ForgetModules();

// Record the begin and the end of a call. `module`: id in the ring's table of names.
void RecordModuleEnter(std::uint32_t module);
void RecordModuleExit(std::uint32_t module);

// Called inside the range that accumulates a parameter's gradient, directly after its begin. Records that the
// parameter's module is entered, but not that it is left: for the reader, the end of the range ends the module too.
void RecordGradientOf(const void* parameter);

}  // namespace memoir

#endif  // TRACKER_MODULES_MODULE_CALLS_H_
