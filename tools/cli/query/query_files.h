// The SQL files of `memoir query`: lib/memoir/queries/NAME.sql. The first line of a file describes the answer.
#ifndef TOOLS_CLI_QUERY_QUERY_FILES_H_
#define TOOLS_CLI_QUERY_QUERY_FILES_H_

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace memoir {

struct QueryFile {
  std::string name;     // "top_operators"
  std::string answers;  // the first line of the file: a description of the answer
  std::filesystem::path path;
};

// Returns the queries of this folder, by name. The error states that the installation is incomplete.
absl::StatusOr<std::vector<QueryFile>> FindQueries(const std::filesystem::path& folder);

// Finds a query by its name, or a file of the caller ("mine.sql"). The error contains the most similar name.
absl::StatusOr<QueryFile> FindQuery(const std::filesystem::path& folder, const std::string& name);

absl::StatusOr<std::string> ReadQuery(const QueryFile& query);

}  // namespace memoir

#endif  // TOOLS_CLI_QUERY_QUERY_FILES_H_
