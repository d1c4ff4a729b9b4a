#include "tests/writer/device_columns.h"

namespace memoir::test {

using memoir::v1::ThreadRun;

bool DeviceColumns::AllTaken(const ThreadRun& run) const {
  const bool pools =
      run.pool_graph_size() == run.pool_user_size() && (run.pool_graph_size() == 0 || run.pool_graph_size() == place);
  const bool limits = run.device_limit_size() == 0 || run.device_limit_size() == device_limit;
  const bool driver = driver_call == run.driver_call_size() && driver_call == run.library_size() &&
                      driver_error == run.driver_error_size() && reading_cause == run.reading_cause_size() &&
                      reading == run.reading_size();
  return pools && limits && driver && requested == run.requested_bytes_size() && place == run.stream_delta_size() &&
         device_free == run.device_free_size() && statistic == run.statistic_size();
}

bool IsOfDriver(int kind) { return kind >= memoir::v1::DRIVER_ALLOCATE && kind <= memoir::v1::DEVICE_READING; }

namespace {

bool TakeReading(const ThreadRun& run, DeviceColumns* at, Event* event) {
  if (at->reading_cause >= run.reading_cause_size() || at->reading + 5 > run.reading_size()) return false;
  event->reading_cause = run.reading_cause(at->reading_cause++);
  for (int i = 0; i < 5; ++i) event->reading.push_back(run.reading(at->reading++) - 1);
  return true;
}

bool TakeDriverColumns(const ThreadRun& run, const NameDefs& names, DeviceColumns* at, int* bytes, Event* event) {
  if (event->kind == memoir::v1::DRIVER_FREE) return true;
  // Those without an address repeat the one before.
  if (event->kind != memoir::v1::DRIVER_ALLOCATE) event->address = 0;
  if (event->kind == memoir::v1::DEVICE_READING) return TakeReading(run, at, event);
  if (*bytes >= run.bytes_size() || at->driver_call >= run.driver_call_size()) return false;
  event->bytes = run.bytes((*bytes)++);
  if (at->driver_call >= run.library_size()) return false;
  if (const std::uint32_t library = run.library(at->driver_call); library != 0) {
    const auto name = names.find(library);
    if (name == names.end() || name->second.kind() != memoir::v1::NameDef::TEXT) return false;
    event->library = name->second.text();
  }
  event->driver_call = run.driver_call(at->driver_call++);
  if (event->kind != memoir::v1::DRIVER_REFUSED) return true;
  if (at->device_free >= run.device_free_size() || at->driver_error >= run.driver_error_size()) return false;
  event->device_free = run.device_free(at->device_free++);
  event->driver_error = run.driver_error(at->driver_error++);
  return true;
}

}  // namespace

bool IsOfDevice(int kind) {
  return (kind >= memoir::v1::SEGMENT_ALLOCATE && kind <= memoir::v1::DEVICE_STATISTICS) ||
         (kind >= memoir::v1::BLOCK_ALLOCATE && kind <= memoir::v1::SEGMENT_FOUND) || IsOfDriver(kind);
}

bool TakeDeviceColumns(const ThreadRun& run, const NameDefs& names, DeviceColumns* at, int* bytes, Event* event) {
  if (IsOfDriver(event->kind)) return TakeDriverColumns(run, names, at, bytes, event);
  if (event->kind == memoir::v1::DEVICE_STATISTICS) {
    for (int i = 0; i < 5 && at->statistic < run.statistic_size(); ++i)
      event->statistics.push_back(run.statistic(at->statistic++));
    return event->statistics.size() == 5;
  }
  if (*bytes >= run.bytes_size() || at->place >= run.stream_delta_size()) return false;
  event->bytes = run.bytes((*bytes)++);
  event->stream = at->stream += static_cast<std::uint64_t>(run.stream_delta(at->place));
  if (at->place < run.pool_graph_size() && at->place < run.pool_user_size())
    event->pool = {run.pool_graph(at->place), run.pool_user(at->place)};
  ++at->place;
  if (event->kind == memoir::v1::BLOCK_ALLOCATE || event->kind == memoir::v1::BLOCK_FOUND) {
    if (at->requested >= run.requested_bytes_size()) return false;
    event->requested = run.requested_bytes(at->requested++);
  }
  if (event->kind != memoir::v1::OUT_OF_MEMORY) return true;
  if (at->device_free >= run.device_free_size()) return false;
  event->device_free = run.device_free(at->device_free++);
  if (run.device_limit_size() == 0) return true;
  if (at->device_limit >= run.device_limit_size()) return false;
  event->device_limit = run.device_limit(at->device_limit++) - 1;
  return true;
}

}  // namespace memoir::test
