// The file _memoir.json in a folder of Parquet files. It contains the version of the tables, and the names and sizes of
// the files, so that readers notice missing or cut files. docs/exports.md describes its keys.
#ifndef TOOLS_CLI_TABLES_TABLE_MANIFEST_H_
#define TOOLS_CLI_TABLES_TABLE_MANIFEST_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"
#include "tools/cli/output/new_folder.h"

namespace memoir {

class TableManifest {
 public:
  using FileBytes = std::map<std::string, std::uint64_t>;  // by the table's name

  explicit TableManifest(const FileBytes& files);  // `files` are TABLE.parquet; in exports by rank TABLE/TABLE.parquet

  // Adds the files TABLE/rank=RANK/TABLE.parquet of a rank.
  void AddRank(std::int64_t rank, const FileBytes& files);
  void SetMissing(const std::set<std::uint32_t>& ranks);  // ranks of the job without a recording
  absl::Status Write(NewFolder& folder) const;

 private:
  nlohmann::ordered_json json_;
};

}  // namespace memoir

#endif  // TOOLS_CLI_TABLES_TABLE_MANIFEST_H_
