// How far the tests' own reader has read each column of a run.
#ifndef TESTS_WRITER_READ_COLUMNS_H_
#define TESTS_WRITER_READ_COLUMNS_H_

#include "tests/writer/device_columns.h"

namespace memoir::test {

// Of calls of Python functions.
struct CallColumns {
  int code = 0, around = 0;
  bool AllTaken(const memoir::v1::ThreadRun& run) const {
    return code == run.code_size() && around == run.calls_around_size();
  }
  // False: a column is too short, or the code has no name.
  bool Take(const memoir::v1::ThreadRun& run, const NameDefs& names, Event* event) {
    if (around >= run.calls_around_size()) return false;
    event->level = run.calls_around(around++);
    if (event->kind == memoir::v1::CALL_END) return true;
    const auto name = code < run.code_size() ? names.find(run.code(code++)) : names.end();
    if (name == names.end() || name->second.kind() != memoir::v1::NameDef::CODE) return false;
    event->frames = {{name->second.code_file(), name->second.text(), 0}};
    return true;
  }
};

struct ReadColumns {
  explicit ReadColumns(const memoir::v1::ThreadRun& run) : no_devices(run.device_size() == 0) {}
  int name = 0, sequence = 0, forward = 0, signature = 0, tensor = 0, block = 0, bytes = 0, mark = 0, step = 0,
      level = 0, module = 0, owner = 0, holds_name = 0, stack = 0, device = 0;
  std::uint64_t sequence_value = 0, address = 0, serial = 0;
  DeviceColumns of_device;
  CallColumns of_calls;
  bool no_devices;
  bool AllTaken(const memoir::v1::ThreadRun& run) const {
    return name == run.name_size() && sequence == run.sequence_delta_size() && forward == run.forward_thread_size() &&
           signature == run.signature_size() && tensor == run.tensor_size() && block == run.address_delta_size() &&
           block == run.serial_delta_size() && (no_devices || device == run.device_size()) &&
           bytes == run.bytes_size() && mark == run.mark_name_size() && step == run.step_size() &&
           level == run.level_size() && module == run.module_size() && owner == run.owner_size() &&
           holds_name == run.holds_name_size() && stack == run.stack_size() && of_device.AllTaken(run) &&
           of_calls.AllTaken(run);
  }
};

}  // namespace memoir::test

#endif  // TESTS_WRITER_READ_COLUMNS_H_
