// Captures that were made of another program's file (tools/import, docs/imports.md), and what they therefore lack.
//
// Such a capture has one process. Of a memory snapshot its ranges are no calls: an operator or autograd node of one
// stands for all allocations that follow each other in it.
#ifndef TOOLS_MODEL_IMPORTED_H_
#define TOOLS_MODEL_IMPORTED_H_

#include <string>

#include "tools/model/capture.h"

namespace memoir {

enum class Import : std::uint8_t {
  kNone,      // Memoir recorded it
  kSnapshot,  // of torch's allocator
  kTrace,     // of torch.profiler
};

Import ImportOf(const ProcessSummary& process);
Import ImportOf(const Capture& capture);
inline bool IsImported(const ProcessSummary& process) { return ImportOf(process) != Import::kNone; }
inline bool IsImported(const Capture& capture) { return ImportOf(capture) != Import::kNone; }

// "a memory snapshot of PyTorch"
std::string ImportedFrom(Import import);
// "not known: a memory snapshot of PyTorch has no calls of CUDA"; "" of what Memoir recorded.
std::string NotInImport(const Capture& capture, const std::string& what);

// Segments of a trace are sums alone: none has an address.
inline bool HasSegments(const Capture& capture) { return ImportOf(capture) != Import::kTrace; }
inline bool HasCalls(const Capture& capture) { return ImportOf(capture) != Import::kSnapshot; }

// What was allocated before its history began is known by what was live then, and not at all where it has none.
bool HasCutHistory(const ProcessSummary& process);
bool HasNoHistory(const ProcessSummary& process);

// By which a summary of it is shown where nobody says: "operator", "line".
std::string UsualGrouping(const Capture& capture);

}  // namespace memoir

#endif  // TOOLS_MODEL_IMPORTED_H_
