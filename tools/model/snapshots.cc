#include "tools/model/snapshots.h"

#include <algorithm>
#include <string_view>

namespace memoir {

std::string SnapshotAskedBy(const ProcessSummary& process) {
  constexpr std::string_view kSource = "snapshot:";
  for (const std::string& source : process.info.sources()) {
    if (source.starts_with(kSource)) return source.substr(kSource.size());
  }
  return "";
}

bool IsSnapshot(const Capture& capture) {
  return !capture.processes().empty() &&
         std::ranges::all_of(capture.processes(), [](const ProcessSummary& p) { return !SnapshotAskedBy(p).empty(); });
}

}  // namespace memoir
