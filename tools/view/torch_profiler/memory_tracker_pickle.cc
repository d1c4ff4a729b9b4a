#include "tools/view/torch_profiler/memory_tracker_pickle.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "tools/view/json/pickle.h"

namespace memoir {
namespace {

constexpr double kBytesPerMb = 1024 * 1024;

// Writes a dictionary such as {0: ("forward.addmm.default_0", 12.5), ...}. The first dictionary defines the names, and
// the other dictionaries refer to them.
void WriteColumn(const MemoryTrackerStats& stats, std::uint64_t DeviceBytes::* column, bool first, Pickle& pickle) {
  pickle.BeginDictionary();
  for (std::size_t i = 0; i < stats.rows.size(); ++i) {
    const auto number = static_cast<std::uint32_t>(i);
    pickle.Integer(i);
    if (first) {
      pickle.Remember(ToUtf8(NameOf(stats, stats.rows[i])), number);
    } else {
      pickle.Recall(number);
    }
    pickle.Real(static_cast<double>(stats.rows[i].bytes.*column) / kBytesPerMb);
    pickle.EndPair();
  }
  pickle.EndDictionary();
}

}  // namespace

void WriteMemoryTrackerPickle(const MemoryTrackerStats& stats, std::function<void(std::string_view)> write) {
  Pickle pickle(std::move(write));
  pickle.BeginDictionary();
  pickle.Text("memories_allocated");
  WriteColumn(stats, &DeviceBytes::allocated, true, pickle);
  pickle.Text("memories_active");
  WriteColumn(stats, &DeviceBytes::active, false, pickle);
  pickle.Text("memories_reserved");
  WriteColumn(stats, &DeviceBytes::reserved, false, pickle);
  pickle.Text("markers");
  pickle.BeginDictionary();
  for (const auto& [name, row] : stats.markers) {
    pickle.Text(name);
    pickle.Integer(row);
  }
  pickle.EndDictionary();
  pickle.Text("num_alloc_retries");
  pickle.Integer(stats.num_alloc_retries);
  pickle.Text("op_index");  // the number of rows; torch 2.15 counts up to it after loading
  pickle.Integer(stats.rows.size());
  pickle.EndDictionary();
  pickle.End();
}

}  // namespace memoir
