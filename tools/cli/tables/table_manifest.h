// _memoir.json of a folder of Parquet files: the version of its tables, and its files with their sizes, so that readers
// can notice missing or cut files. docs/exports.md describes its keys.
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

  explicit TableManifest(const FileBytes& files);  // TABLE.parquet; for ranks TABLE/TABLE.parquet

  // Files TABLE/rank=RANK/TABLE.parquet.
  void AddRank(std::int64_t rank, const FileBytes& files);
  void SetMissing(const std::set<std::uint32_t>& ranks);  // ranks of the job of which nothing was recorded
  absl::Status Write(NewFolder& folder) const;

 private:
  nlohmann::ordered_json json_;
};

}  // namespace memoir

#endif  // TOOLS_CLI_TABLES_TABLE_MANIFEST_H_
