#include "tools/model/imported.h"

#include <algorithm>
#include <string_view>

#include "tools/import/sources.h"

namespace memoir {
namespace {

bool HasSource(const ProcessSummary& process, std::string_view source) {
  return std::ranges::find(process.info.sources(), source) != process.info.sources().end();
}

}  // namespace

bool IsImported(const ProcessSummary& process) { return HasSource(process, kTorchSnapshotSource); }

bool IsImported(const Capture& capture) {
  return std::ranges::any_of(capture.processes(), [](const ProcessSummary& process) { return IsImported(process); });
}

bool HasCutHistory(const ProcessSummary& process) { return HasSource(process, kCutHistorySource); }

bool HasNoHistory(const ProcessSummary& process) { return HasSource(process, kNoHistorySource); }

}  // namespace memoir
