// A capture as rows of tables, for the exports that have tables: SQLite, Arrow, Parquet.
#ifndef TOOLS_CLI_TABLES_EXPORT_TABLES_H_
#define TOOLS_CLI_TABLES_EXPORT_TABLES_H_

#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"
#include "tools/view/database/table_sink.h"

namespace memoir {

// Goes through the recording as often as the wanted tables need. `say` gets a line of what is not known of them.
absl::StatusOr<ReplayReport> FillTables(const Capture& capture, const Selection& selection, const TableSink& sink,
                                        const std::function<void(std::string_view)>& say);

}  // namespace memoir

#endif  // TOOLS_CLI_TABLES_EXPORT_TABLES_H_
