// memoir query: answers SQL queries about the tables of `memoir export parquet`, with DuckDB or Spark.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/typed_path.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/installed/install_tree.h"
#include "tools/cli/query/query_files.h"
#include "tools/cli/query/query_python.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/view/terminal/terminal.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): throws only if memory runs out, which ends any program
const VerbHelp kHelp = {
    .verb = "query",
    .usage = "query [OPTIONS] [NAME [DATA]]",
    .description =
        "Answer a question about many ranks by an SQL file, which runs on DuckDB and on Apache Spark alike "
        "(docs/queries.md). NAME is one of the queries that memoir query lists, or a file NAME.sql of your own. DATA "
        "is "
        "a folder that memoir export parquet wrote, its address (s3://...), or a capture. The engine is a package of "
        "Python, duckdb or pyspark, which has to be installed.",
    .examples =
        "  memoir export parquet job -o tables/ && memoir query odd_rank tables/\n"
        "  memoir query growth_per_step --engine spark --json hdfs://nn/tables\n",
};

constexpr std::uint32_t kTop = 20;

struct QueryArguments {
  std::string name;
  std::string data;
  std::string engine = "duckdb";
  std::string python;
  std::optional<std::uint32_t> top;
  bool json = false;
  bool sql = false;
};

int ListQueries(const std::filesystem::path& folder) {
  const absl::StatusOr<std::vector<QueryFile>> queries = FindQueries(folder);
  if (!queries.ok()) return Fail(queries.status());
  std::size_t width = 0;
  for (const QueryFile& query : *queries) width = std::max(width, query.name.size() + 2);
  std::string text;
  for (const QueryFile& query : *queries)
    text += PaddedRight(query.name, width) + Wrapped(query.answers, DetectTerminal(STDOUT_FILENO).width, width) + "\n";
  return WriteOutput(text);
}

std::string ComplaintAbout(const QueryArguments& arguments) {
  if (arguments.engine != "duckdb" && arguments.engine != "spark")
    return "--engine " + arguments.engine + ": engines are duckdb and spark";
  if (arguments.name.empty() && (arguments.json || arguments.sql || arguments.top))
    return "no query given: memoir query lists them";
  if (arguments.sql && !arguments.data.empty()) return "--sql prints the query's text: leave out " + arguments.data;
  return "";
}

int Answer(const InstallTree& tree, const QueryArguments& asked) {
  const absl::StatusOr<QueryFile> query = FindQuery(tree.queries, asked.name);
  if (!query.ok()) {
    return absl::IsInvalidArgument(query.status()) ? FailUsage("query", std::string(query.status().message()))
                                                   : Fail(query.status());
  }
  const absl::StatusOr<std::string> text = ReadQuery(*query);
  if (!text.ok()) return Fail(text.status());
  if (asked.sql) return WriteOutput(*text);
  if (asked.data.empty())
    return FailUsage("query", "no data given: memoir query " + TypedWord(asked.name) +
                                  " FOLDER, of memoir export parquet, or a capture");
  const QueryRun run = {asked.engine,         asked.python, asked.data,
                        query->path.string(), asked.json,   asked.top.value_or(kTop)};
  const absl::StatusOr<std::string> python = FindEnginePython(tree, run);
  if (!python.ok()) return Fail(python.status());
  return RunQuery(tree, run, *python);
}

}  // namespace

int QueryVerb(const std::vector<std::string>& arguments) {
  const auto app = MakeArguments(kHelp);
  QueryArguments asked;
  app->add_option("NAME", asked.name, "the query; without it, the queries are listed");
  app->add_option("DATA", asked.data, "folder of memoir export parquet, its address, or a capture");
  app->add_option("--engine", asked.engine, "duckdb or spark [duckdb]");
  app->add_flag("--sql", asked.sql, "print the query's text");
  app->add_flag("--json", asked.json, "all rows, as JSON (docs/json.md)");
  AddNumber(*app, "--top", asked.top, "rows of the table; 0: all [20]");
  app->add_option("--python", asked.python,
                  "Python with the engine's package [in Memoir's environment, else the active one, else python in "
                  "PATH]");
  if (const auto code = ParseArguments(*app, "query", arguments)) return *code;
  if (const std::string complaint = ComplaintAbout(asked); !complaint.empty()) return FailUsage("query", complaint);
  const InstallTree tree = FindInstallTree();
  return asked.name.empty() ? ListQueries(tree.queries) : Answer(tree, asked);
}

}  // namespace memoir
