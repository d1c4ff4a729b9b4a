#include "tools/cli/tables/table_manifest.h"

#include "tools/cli/output/output_file.h"
#include "tools/view/database/capture_columns.h"

namespace memoir {

TableManifest::TableManifest(const FileBytes& files)
    : json_({{"format", "memoir tables"}, {"version", kTablesVersion}, {"partitioned_by", nullptr}, {"files", files}}) {
}

void TableManifest::AddRank(std::int64_t rank, const FileBytes& files) {
  json_["partitioned_by"] = "rank";
  json_["ranks"].push_back({{"rank", rank}, {"files", files}});
}

void TableManifest::SetMissing(const std::set<std::uint32_t>& ranks) { json_["missing_ranks"] = ranks; }

absl::Status TableManifest::Write(NewFolder& folder) const {
  OutputFile output(folder.File("_memoir.json"));
  output.Write(json_.dump(1) + "\n");
  if (absl::Status status = output.status(); !status.ok()) return status;
  return output.Finish();
}

}  // namespace memoir
