// memoir export parquet for a job: writes a folder for each table, with a folder for each rank inside
// (TABLE/rank=3/TABLE.parquet). Spark, DuckDB and Hive expect such partitions. The tables `ranks` and `summary` have
// few rows, so each of them is one file.
//
// Exports one rank after another, so it needs only the memory for one rank.
#ifndef TOOLS_CLI_TABLES_EXPORT_RANKS_H_
#define TOOLS_CLI_TABLES_EXPORT_RANKS_H_

#include "absl/status/statusor.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/cli/output/new_folder.h"
#include "tools/model/capture.h"
#include "tools/view/database/capture_columns.h"

namespace memoir {

// Returns true if the capture has several processes, or one process that is one of several ranks.
bool IsJobOfRanks(const Capture& capture);

// Writes the tables into `folder`. Calls folder.Keep() if everything was written.
absl::StatusOr<ReplayReport> ExportRanks(const Capture& capture, const Selection& selection, const TableSet& wanted,
                                         NewFolder& folder);

}  // namespace memoir

#endif  // TOOLS_CLI_TABLES_EXPORT_RANKS_H_
