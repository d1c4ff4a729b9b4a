#include "tools/model/snapshot_trigger.h"

#include <algorithm>
#include <string_view>

namespace memoir {

std::string SnapshotTrigger(const ProcessSummary& process) {
  constexpr std::string_view kSource = "snapshot:";
  for (const std::string& source : process.info.sources()) {
    if (source.starts_with(kSource)) return source.substr(kSource.size());
  }
  return "";
}

bool IsSnapshot(const Capture& capture) {
  return !capture.processes().empty() &&
         std::ranges::all_of(capture.processes(), [](const ProcessSummary& p) { return !SnapshotTrigger(p).empty(); });
}

}  // namespace memoir
