// Fills tables with the rows of a capture, for the exports sqlite, arrow and parquet.
#ifndef TOOLS_CLI_TABLES_EXPORT_TABLES_H_
#define TOOLS_CLI_TABLES_EXPORT_TABLES_H_

#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/analyze/ranks/odd_ranks.h"
#include "tools/model/capture.h"
#include "tools/view/database/table_sink.h"

namespace memoir {

// Replays the recording as often as the wanted tables need. `compared`: the ranks of the whole job. `say` receives a
// line if categories are missing in the tables.
absl::StatusOr<ReplayReport> FillTables(const Capture& capture, const Selection& selection, const OddRanks& compared,
                                        const TableSink& sink, const std::function<void(std::string_view)>& say);

// Returns the comparison of the capture's ranks, which the table `ranks` contains. Empty if that table is not wanted.
OddRanks CompareRanksFor(const Capture& capture, const TableSet& wanted);

}  // namespace memoir

#endif  // TOOLS_CLI_TABLES_EXPORT_TABLES_H_
