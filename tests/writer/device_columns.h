// The part of the tests' own reader that knows which columns events of devices with a caching allocator take.
#ifndef TESTS_WRITER_DEVICE_COLUMNS_H_
#define TESTS_WRITER_DEVICE_COLUMNS_H_

#include <cstdint>
#include <map>

#include "memoir/v1/capture.pb.h"
#include "tests/writer/event_model.h"

namespace memoir::test {

using NameDefs = std::map<std::uint32_t, memoir::v1::NameDef>;  // of a part

// How far each column is read.
struct DeviceColumns {
  int requested = 0, place = 0, stream_delta = 0, device_free = 0, statistic = 0, device_limit = 0, driver_call = 0,
      driver_error = 0, reading_cause = 0, reading = 0, host_reading = 0, device_call = 0, kernel = 0, launch = 0,
      other_call = 0, copy_kind = 0, correlated = 0, ran = 0;
  std::uint64_t stream = 0, correlation = 0;
  bool AllTaken(const memoir::v1::ThreadRun& run) const;
};

// Whether they belong to driver allocations.
bool IsOfDriver(int kind);
// Whether events of this kind have columns besides address, serial and device.
bool IsOfDevice(int kind);
// All but address, serial and device. False: a column is too short, or a library has no name.
bool TakeDeviceColumns(const memoir::v1::ThreadRun& run, const NameDefs& names, DeviceColumns* at, int* bytes,
                       Event* event);

bool TakeHostReading(const memoir::v1::ThreadRun& run, DeviceColumns* at, Event* event);

// Calls of CUDA, and what ran: all but the device.
bool TakeCallColumns(const memoir::v1::ThreadRun& run, const NameDefs& names, DeviceColumns* at, int* bytes,
                     Event* event);

}  // namespace memoir::test

#endif  // TESTS_WRITER_DEVICE_COLUMNS_H_
