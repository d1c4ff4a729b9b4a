// Determines whether a capture was converted from another program's file (tools/import, docs/imports.md), and which
// information is therefore missing in the capture. Also determines the grouping of a table for which no option selects
// a grouping.
//
// A converted capture has one process. If it was converted from a memory snapshot, a range is not one call: it covers
// all consecutive allocations of an operator or autograd node.
#ifndef TOOLS_MODEL_IMPORT_SOURCE_H_
#define TOOLS_MODEL_IMPORT_SOURCE_H_

#include <string>

#include "tools/model/capture.h"

namespace memoir {

enum class ImportSource : std::uint8_t {
  kNone,      // recorded by Memoir
  kSnapshot,  // a snapshot of torch's allocator
  kTrace,     // a trace of torch.profiler
};

ImportSource ImportSourceOf(const ProcessSummary& process);
ImportSource ImportSourceOf(const Capture& capture);
inline bool IsImported(const ProcessSummary& process) { return ImportSourceOf(process) != ImportSource::kNone; }
inline bool IsImported(const Capture& capture) { return ImportSourceOf(capture) != ImportSource::kNone; }

// Returns "a memory snapshot of PyTorch". Empty for kNone.
std::string DescribeImport(ImportSource import);
// Returns "not known: a memory snapshot of PyTorch has no calls of CUDA". Empty if Memoir recorded the capture.
std::string NotInImport(const Capture& capture, const std::string& what);

// HasSegments is false for traces, because a trace contains only the sum of its segments, without addresses.
// HasOperatorCalls is false for memory snapshots, because their ranges are not single calls (see above).
inline bool HasSegments(const Capture& capture) { return ImportSourceOf(capture) != ImportSource::kTrace; }
inline bool HasOperatorCalls(const Capture& capture) { return ImportSourceOf(capture) != ImportSource::kSnapshot; }

// The history of a file is its list of allocations and frees.
// HasCutHistory: memory was in use before the history began. A block from the time before the history is known only if
// it was live when the history began.
// HasNoHistory: the file contains no history, so blocks that were freed before the snapshot are unknown.
bool HasCutHistory(const ProcessSummary& process);
bool HasNoHistory(const ProcessSummary& process);

// Returns the grouping of a table for which no option selects a grouping: "line" for memory snapshots, otherwise
// "operator".
std::string DefaultGrouping(const Capture& capture);

}  // namespace memoir

#endif  // TOOLS_MODEL_IMPORT_SOURCE_H_
