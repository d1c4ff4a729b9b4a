#include "tools/model/import_source.h"

#include <algorithm>
#include <string_view>

#include "tools/import/files/source_names.h"

namespace memoir {
namespace {

bool HasSource(const ProcessSummary& process, std::string_view source) {
  return std::ranges::find(process.info.sources(), source) != process.info.sources().end();
}

}  // namespace

ImportSource ImportSourceOf(const ProcessSummary& process) {
  if (HasSource(process, kTorchSnapshotSource)) return ImportSource::kSnapshot;
  return HasSource(process, kTorchProfilerSource) ? ImportSource::kTrace : ImportSource::kNone;
}

ImportSource ImportSourceOf(const Capture& capture) {
  for (const ProcessSummary& process : capture.processes()) {
    if (const ImportSource import = ImportSourceOf(process); import != ImportSource::kNone) return import;
  }
  return ImportSource::kNone;
}

std::string DescribeImport(ImportSource import) {
  switch (import) {
    case ImportSource::kSnapshot:
      return "a memory snapshot of PyTorch";
    case ImportSource::kTrace:
      return "a trace of torch.profiler";
    case ImportSource::kNone:
      break;
  }
  return "";
}

std::string NotInImport(const Capture& capture, const std::string& what) {
  const ImportSource import = ImportSourceOf(capture);
  return import == ImportSource::kNone ? "" : "not known: " + DescribeImport(import) + " has no " + what;
}

bool HasCutHistory(const ProcessSummary& process) { return HasSource(process, kCutHistorySource); }

bool HasNoHistory(const ProcessSummary& process) { return HasSource(process, kNoHistorySource); }

std::string DefaultGrouping(const Capture& capture) {
  return ImportSourceOf(capture) == ImportSource::kSnapshot ? "line" : "operator";
}

}  // namespace memoir
