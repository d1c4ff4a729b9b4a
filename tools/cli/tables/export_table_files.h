// memoir export arrow and parquet: a table of the capture as a file, or a folder of such files.
#ifndef TOOLS_CLI_TABLES_EXPORT_TABLE_FILES_H_
#define TOOLS_CLI_TABLES_EXPORT_TABLE_FILES_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"
#include "tools/view/database/capture_columns.h"

namespace memoir {

bool IsTableFiles(std::string_view what);  // "arrow" or "parquet"

// `what`: one of these formats. A single table is written into the file `path`, or to standard output. Several tables
// are written into the folder `path`, which is created, as TABLE.arrow or TABLE.parquet. Incomplete files are removed.
absl::StatusOr<ReplayReport> ExportTableFiles(const Capture& capture, std::string_view what, const Selection& selection,
                                              const TableSet& wanted, const std::string& path);

}  // namespace memoir

#endif  // TOOLS_CLI_TABLES_EXPORT_TABLE_FILES_H_
