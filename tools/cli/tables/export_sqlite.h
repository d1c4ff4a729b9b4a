// memoir export sqlite: writes the capture as the tables of an SQLite database.
#ifndef TOOLS_CLI_TABLES_EXPORT_SQLITE_H_
#define TOOLS_CLI_TABLES_EXPORT_SQLITE_H_

#include <string>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

// Writes a temporary file in the folder of `path` and renames it when it is complete.
absl::StatusOr<ReplayReport> ExportSqlite(const Capture& capture, const Selection& selection, const std::string& path);

}  // namespace memoir

#endif  // TOOLS_CLI_TABLES_EXPORT_SQLITE_H_
