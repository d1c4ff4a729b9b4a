// Words in ProcessInfo.sources of captures that were made of another program's file.
#ifndef TOOLS_IMPORT_SOURCES_H_
#define TOOLS_IMPORT_SOURCES_H_

namespace memoir {

inline constexpr char kTorchSnapshotSource[] = "torch-snapshot";
// Memory was reserved already where the trace begins: it was switched on late, or its oldest entries were overwritten.
inline constexpr char kCutHistorySource[] = "history-cut";
inline constexpr char kNoHistorySource[] = "history-missing";  // there is no trace at all

}  // namespace memoir

#endif  // TOOLS_IMPORT_SOURCES_H_
