#include "tests/writer/device_columns.h"

namespace memoir::test {

using memoir::v1::ThreadRun;

namespace {

// Columns that are left out where all of their values are 0.
bool IsWholeOrEmpty(int size, int wanted) { return size == 0 || size == wanted; }

bool CallsAllTaken(const DeviceColumns& at, const ThreadRun& run) {
  return at.device_call == run.device_call_size() && at.kernel == run.kernel_size() &&
         6 * at.launch == run.grid_size() && at.other_call == run.call_ticks_size() && at.ran == run.run_kind_size() &&
         at.ran == run.run_stream_size() && at.ran == run.run_age_size() && at.ran == run.run_ns_size() &&
         IsWholeOrEmpty(run.call_result_size(), at.device_call) &&
         IsWholeOrEmpty(run.correlation_delta_size(), at.correlated) &&
         IsWholeOrEmpty(run.copy_kind_size(), at.copy_kind) && IsWholeOrEmpty(run.graph_size(), at.other_call) &&
         IsWholeOrEmpty(run.graph_exec_size(), at.other_call);
}

}  // namespace

bool DeviceColumns::AllTaken(const ThreadRun& run) const {
  const bool pools =
      run.pool_graph_size() == run.pool_user_size() && (run.pool_graph_size() == 0 || run.pool_graph_size() == place);
  const bool limits = run.device_limit_size() == 0 || run.device_limit_size() == device_limit;
  const bool driver = driver_call == run.driver_call_size() && driver_call == run.library_size() &&
                      driver_error == run.driver_error_size() && reading_cause == run.reading_cause_size() &&
                      reading == run.reading_size() && host_reading == run.host_reading_size();
  return pools && limits && driver && CallsAllTaken(*this, run) && requested == run.requested_bytes_size() &&
         stream_delta == run.stream_delta_size() && device_free == run.device_free_size() &&
         statistic == run.statistic_size();
}

bool IsOfDriver(int kind) { return kind >= memoir::v1::DRIVER_ALLOCATE && kind <= memoir::v1::DEVICE_READING; }

namespace {

bool TakeStream(const ThreadRun& run, DeviceColumns* at, Event* event) {
  if (at->stream_delta >= run.stream_delta_size()) return false;
  event->stream = at->stream += static_cast<std::uint64_t>(run.stream_delta(at->stream_delta++));
  return true;
}

bool TakeKernel(const ThreadRun& run, const NameDefs& names, DeviceColumns* at, Event* event) {
  if (at->kernel >= run.kernel_size()) return false;
  const std::uint32_t kernel = run.kernel(at->kernel++);
  if (kernel == 0) return true;
  const auto name = names.find(kernel);
  if (name == names.end() || name->second.kind() != memoir::v1::NameDef::TEXT) return false;
  event->name = name->second.text();
  return true;
}

bool TakeLaunch(const ThreadRun& run, const NameDefs& names, DeviceColumns* at, Event* event) {
  if (6 * at->launch + 6 > run.grid_size()) return false;
  for (int i = 0; i < 6; ++i) event->grid.push_back(run.grid(6 * at->launch + i));
  ++at->launch;
  return TakeKernel(run, names, at, event);
}

void TakeCopyKind(const ThreadRun& run, DeviceColumns* at, Event* event) {
  if (at->copy_kind < run.copy_kind_size()) event->copy_kind = run.copy_kind(at->copy_kind);
  ++at->copy_kind;
}

void TakeCorrelation(const ThreadRun& run, DeviceColumns* at, Event* event) {
  if (at->correlated < run.correlation_delta_size())
    at->correlation += static_cast<std::uint64_t>(run.correlation_delta(at->correlated));
  ++at->correlated;
  event->correlation = static_cast<std::uint32_t>(at->correlation);
}

bool TakeRun(const ThreadRun& run, const NameDefs& names, DeviceColumns* at, int* bytes, Event* event) {
  if (at->ran >= run.run_kind_size() || at->ran >= run.run_stream_size() || at->ran >= run.run_age_size() ||
      at->ran >= run.run_ns_size() || *bytes >= run.bytes_size())
    return false;
  event->bytes = run.bytes((*bytes)++);
  event->run_kind = run.run_kind(at->ran);
  event->run_stream = run.run_stream(at->ran);
  event->run_age = run.run_age(at->ran);
  event->run_ns = run.run_ns(at->ran++);
  TakeCopyKind(run, at, event);
  TakeCorrelation(run, at, event);
  return TakeKernel(run, names, at, event);
}

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

bool TakeHostReading(const ThreadRun& run, DeviceColumns* at, Event* event) {
  constexpr int kNumbers = 18;
  if (at->reading_cause >= run.reading_cause_size() || at->host_reading + kNumbers > run.host_reading_size())
    return false;
  event->reading_cause = run.reading_cause(at->reading_cause++);
  for (int i = 0; i < kNumbers; ++i) event->reading.push_back(run.host_reading(at->host_reading++));
  return true;
}

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
  if (*bytes >= run.bytes_size() || !TakeStream(run, at, event)) return false;
  event->bytes = run.bytes((*bytes)++);
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

bool TakeCallColumns(const ThreadRun& run, const NameDefs& names, DeviceColumns* at, int* bytes, Event* event) {
  if (event->kind == memoir::v1::KERNEL_RUN) return TakeRun(run, names, at, bytes, event);
  if (!TakeStream(run, at, event) || at->device_call >= run.device_call_size()) return false;
  if (at->device_call < run.call_result_size()) event->call_result = run.call_result(at->device_call);
  event->device_call = run.device_call(at->device_call++);
  TakeCorrelation(run, at, event);
  if (event->kind == memoir::v1::KERNEL_LAUNCH) return TakeLaunch(run, names, at, event);
  if (*bytes >= run.bytes_size() || at->other_call >= run.call_ticks_size()) return false;
  event->bytes = run.bytes((*bytes)++);
  TakeCopyKind(run, at, event);
  if (at->other_call < run.graph_size()) event->graph = run.graph(at->other_call);
  if (at->other_call < run.graph_exec_size()) event->graph_exec = run.graph_exec(at->other_call);
  event->call_ticks = run.call_ticks(at->other_call++);
  return true;
}

}  // namespace memoir::test
