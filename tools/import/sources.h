// Words in ProcessInfo.sources of captures that were made of another program's file.
#ifndef TOOLS_IMPORT_SOURCES_H_
#define TOOLS_IMPORT_SOURCES_H_

namespace memoir {

inline constexpr char kTorchSnapshotSource[] = "torch-snapshot";
inline constexpr char kTorchProfilerSource[] = "torch-profiler";
// Memory was in use already where the history begins: it was switched on late, or its oldest entries were overwritten.
inline constexpr char kCutHistorySource[] = "history-cut";
inline constexpr char kNoHistorySource[] = "history-missing";   // there is no trace at all
inline constexpr char kPythonStacksSource[] = "python-stacks";  // of the profiler: with_stack=True
inline constexpr char kModulesSource[] = "modules";             // as captures of the recorder have it

}  // namespace memoir

#endif  // TOOLS_IMPORT_SOURCES_H_
