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

Import ImportOf(const ProcessSummary& process) {
  if (HasSource(process, kTorchSnapshotSource)) return Import::kSnapshot;
  return HasSource(process, kTorchProfilerSource) ? Import::kTrace : Import::kNone;
}

Import ImportOf(const Capture& capture) {
  for (const ProcessSummary& process : capture.processes()) {
    if (const Import import = ImportOf(process); import != Import::kNone) return import;
  }
  return Import::kNone;
}

std::string ImportedFrom(Import import) {
  switch (import) {
    case Import::kSnapshot:
      return "a memory snapshot of PyTorch";
    case Import::kTrace:
      return "a trace of torch.profiler";
    case Import::kNone:
      break;
  }
  return "";
}

std::string NotInImport(const Capture& capture, const std::string& what) {
  const Import import = ImportOf(capture);
  return import == Import::kNone ? "" : "not known: " + ImportedFrom(import) + " has no " + what;
}

bool HasCutHistory(const ProcessSummary& process) { return HasSource(process, kCutHistorySource); }

bool HasNoHistory(const ProcessSummary& process) { return HasSource(process, kNoHistorySource); }

std::string UsualGrouping(const Capture& capture) {
  return ImportOf(capture) == Import::kSnapshot ? "line" : "operator";
}

}  // namespace memoir
