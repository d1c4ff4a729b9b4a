// Records when calls of modules begin and end, and to which module a parameter's gradient belongs.
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
  // The result of FingerprintParameters (named_tensors.h) for each module's newest record, by the address of the
  // module's Python object.
  AddressTable holdings;
  AddressTable parameters;  // the id of the parameter's module, by the address of the TensorImpl
  // How many more parameters without a known module may request that the tensors of modules are read again.
  std::atomic<std::uint32_t> looks_left;
  std::atomic<bool> look_wanted;               // such a request is open; the next module call fulfils it
  std::atomic<std::uint64_t> times_forgotten;  // number of calls of ForgetModules, which identifies the recording
};
extern constinit ModuleTables module_tables;

// Forgets all modules and parameters. Call it before each recording, because the ids of names in the previous ring are
// invalid.
void ForgetModules();

// Record the begin and the end of a call. `module`: id in the ring's table of names.
void RecordModuleEnter(std::uint32_t module);
void RecordModuleExit(std::uint32_t module);

// Called inside the range that accumulates a parameter's gradient, directly after the range begins. Records that a call
// of the parameter's module begins. The end of this call is not recorded: for readers, the call ends with the range.
void RecordGradientOf(const void* parameter);

}  // namespace memoir

#endif  // TRACKER_MODULES_MODULE_CALLS_H_
