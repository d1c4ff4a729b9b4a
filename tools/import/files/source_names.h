// Words in ProcessInfo.sources that mark captures of imported files.
#ifndef TOOLS_IMPORT_FILES_SOURCE_NAMES_H_
#define TOOLS_IMPORT_FILES_SOURCE_NAMES_H_

namespace memoir {

inline constexpr char kTorchSnapshotSource[] = "torch-snapshot";
inline constexpr char kTorchProfilerSource[] = "torch-profiler";
// Memory was already in use when the snapshot's history begins: the history was switched on late, or its oldest entries
// were overwritten.
inline constexpr char kCutHistorySource[] = "history-cut";
inline constexpr char kNoHistorySource[] = "history-missing";   // the snapshot has no trace
inline constexpr char kPythonStacksSource[] = "python-stacks";  // the profiler recorded stacks (with_stack=True)
inline constexpr char kModulesSource[] = "modules";             // modules were recorded; the tracker uses the same word

}  // namespace memoir

#endif  // TOOLS_IMPORT_FILES_SOURCE_NAMES_H_
