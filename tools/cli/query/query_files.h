// The SQL files of `memoir query`: lib/memoir/queries/NAME.sql, each with a first line that says what it answers.
#ifndef TOOLS_CLI_QUERY_QUERY_FILES_H_
#define TOOLS_CLI_QUERY_QUERY_FILES_H_

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace memoir {

struct QueryFile {
  std::string name;  // "top_operators"
  std::string answers;
  std::filesystem::path path;
};

// Of that folder, by name. The error says that the installation is not whole.
absl::StatusOr<std::vector<QueryFile>> FindQueries(const std::filesystem::path& folder);

// By its name there, or a file of the caller's own ("mine.sql"). The error names the nearest.
absl::StatusOr<QueryFile> FindQuery(const std::filesystem::path& folder, const std::string& name);

absl::StatusOr<std::string> ReadQuery(const QueryFile& query);

}  // namespace memoir

#endif  // TOOLS_CLI_QUERY_QUERY_FILES_H_
