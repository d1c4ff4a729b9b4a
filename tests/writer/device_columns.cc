#include "tests/writer/device_columns.h"

namespace memoir::test {

using memoir::v1::ThreadRun;

bool DeviceColumns::AllTaken(const ThreadRun& run) const {
  const bool pools =
      run.pool_graph_size() == run.pool_user_size() && (run.pool_graph_size() == 0 || run.pool_graph_size() == place);
  return pools && requested == run.requested_bytes_size() && place == run.stream_delta_size() &&
         device_free == run.device_free_size() && statistic == run.statistic_size();
}

bool IsOfDevice(int kind) {
  return (kind >= memoir::v1::SEGMENT_ALLOCATE && kind <= memoir::v1::DEVICE_STATISTICS) ||
         (kind >= memoir::v1::BLOCK_ALLOCATE && kind <= memoir::v1::SEGMENT_FOUND);
}

bool TakeDeviceColumns(const ThreadRun& run, DeviceColumns* at, int* bytes, Event* event) {
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
  return true;
}

}  // namespace memoir::test
