// memoir export parquet of a job: a folder for each table, and in it one for each rank (TABLE/rank=3/TABLE.parquet), as
// Spark, DuckDB, Hive and their like expect partitions. `ranks` and `summary` have few rows, and are one file each.
//
// One rank is gone through after another: memory is that of one rank, however many there are.
#ifndef TOOLS_CLI_TABLES_EXPORT_RANKS_H_
#define TOOLS_CLI_TABLES_EXPORT_RANKS_H_

#include "absl/status/statusor.h"
#include "tools/analyze/pass/options.h"
#include "tools/cli/output/new_folder.h"
#include "tools/model/capture.h"
#include "tools/view/database/capture_columns.h"

namespace memoir {

// Whether it has several processes, or is one of several ranks.
bool IsJobOfRanks(const Capture& capture);

// Into `folder`, which is kept where all was written.
absl::StatusOr<ReplayReport> ExportRanks(const Capture& capture, const Selection& selection, const TableSet& wanted,
                                         NewFolder& folder);

}  // namespace memoir

#endif  // TOOLS_CLI_TABLES_EXPORT_RANKS_H_
