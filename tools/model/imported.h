// Captures that were made of another program's file (tools/import, docs/imports.md), and what they therefore lack.
//
// Such a capture has one process. Its ranges are no calls: an operator or autograd node of one stands for all
// allocations that follow each other in it.
#ifndef TOOLS_MODEL_IMPORTED_H_
#define TOOLS_MODEL_IMPORTED_H_

#include "tools/model/capture.h"

namespace memoir {

bool IsImported(const ProcessSummary& process);
bool IsImported(const Capture& capture);

// What was allocated before its history began is known by what was live then, and not at all where it has none.
bool HasCutHistory(const ProcessSummary& process);
bool HasNoHistory(const ProcessSummary& process);

}  // namespace memoir

#endif  // TOOLS_MODEL_IMPORTED_H_
