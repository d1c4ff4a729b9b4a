// Records when calls of modules begin and end, and to which module a parameter's gradient belongs.
//
// Modules are identified by an id in the ring's table of names, so these functions need no Python. They may be called
// on any thread, and record nothing while ranges are not recorded.
#ifndef TRACKER_MODULES_MODULE_CALLS_H_
#define TRACKER_MODULES_MODULE_CALLS_H_

#include <cstdint>

#include "tracker/modules/address_table.h"

namespace memoir {

// The modules and parameters of this recording.
struct ModuleTables {
  // The module's id, by the address of its Python object, as memoir_set_module has set it (memoir_python.h). 0: calls
  // of the module are not recorded.
  AddressTable modules;
  // By the address of a module's Python object: the result of FingerprintParameters (named_tensors.h) when the module's
  // tensors were recorded for the last time.
  AddressTable holdings;
  AddressTable parameters;  // the id of the parameter's module, by the address of the TensorImpl
  // How often reread_requested may still be set in this recording.
  std::atomic<std::uint32_t> looks_left;
  // True if the next module call must read the tensors of modules again. RecordGradientOf sets it if the module of a
  // parameter is unknown.
  std::atomic<bool> reread_requested;
  std::atomic<std::uint64_t> times_forgotten;  // number of calls of ForgetModules, which identifies the recording
};
extern constinit ModuleTables module_tables;

// Forgets all modules and parameters. Call it before each recording, because the ids of names in the previous ring are
// invalid.
void ForgetModules();

// Record the begin (RecordModuleEnter) and the end (RecordModuleExit) of a call. `module`: the module's id.
void RecordModuleEnter(std::uint32_t module);
void RecordModuleExit(std::uint32_t module);

// The range hook calls this directly after the range that accumulates a parameter's gradient has begun. Records that a
// call of the parameter's module begins. The end of this call is not recorded: for readers, the call ends with the
// range. `parameter`: address of its TensorImpl.
void RecordGradientOf(const void* parameter);

}  // namespace memoir

#endif  // TRACKER_MODULES_MODULE_CALLS_H_
