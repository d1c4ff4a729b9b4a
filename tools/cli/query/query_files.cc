#include "tools/cli/query/query_files.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/status/status.h"
#include "tools/cli/terminal/nearest.h"

namespace memoir {
namespace {

// The largest size of a query file in bytes.
constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 20;

std::string FirstComment(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line.starts_with("-- ") ? line.substr(3) : "";
}

}  // namespace

absl::StatusOr<std::vector<QueryFile>> FindQueries(const std::filesystem::path& folder) {
  std::vector<QueryFile> queries;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() == ".sql") queries.push_back({path.stem().string(), FirstComment(path), path});
  }
  if (queries.empty()) return absl::NotFoundError(folder.string() + " has no queries: install Memoir again");
  std::ranges::sort(queries, {}, &QueryFile::name);
  return queries;
}

absl::StatusOr<QueryFile> FindQuery(const std::filesystem::path& folder, const std::string& name) {
  if (name.ends_with(".sql")) return QueryFile{std::filesystem::path(name).stem().string(), "", name};
  const absl::StatusOr<std::vector<QueryFile>> queries = FindQueries(folder);
  if (!queries.ok()) return queries.status();
  const auto found = std::ranges::find(*queries, name, &QueryFile::name);
  if (found != queries->end()) return *found;
  std::vector<std::string> names;
  std::ranges::transform(*queries, std::back_inserter(names), &QueryFile::name);
  return absl::InvalidArgumentError("there is no query '" + name + "'" + DidYouMean(name, names) +
                                    "; memoir query lists them, and NAME.sql is a file of your own");
}

absl::StatusOr<std::string> ReadQuery(const QueryFile& query) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(query.path, error);
  if (error) return absl::NotFoundError("cannot read " + query.path.string() + ": " + error.message());
  if (size > kMostBytes) return absl::InvalidArgumentError(query.path.string() + " is too large for a query");
  std::ifstream file(query.path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file.good() && !file.eof()) return absl::UnavailableError("cannot read " + query.path.string());
  return text;
}

}  // namespace memoir
