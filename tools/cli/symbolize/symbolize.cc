// memoir symbolize: finds names for the native frames of a capture, with memoir-symbolize.
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "fmt/format.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/installed/install_tree.h"
#include "tools/cli/process/child_process.h"
#include "tools/cli/process/spawn.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/printed_messages.h"

namespace memoir {
namespace {

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): throws only if memory runs out, which ends any program
const VerbHelp kHelp = {
    .verb = "symbolize",
    .usage = "symbolize [OPTIONS] CAPTURE",
    .description =
        "Name the native frames of a capture that was recorded with --stacks native, from the symbols and the debug "
        "information of the libraries that were loaded (docs/stacks.md). The names are written into the capture's "
        "folder, and every view shows them. A library is used only if it has the build id of the loaded one. If it is "
        "not on this machine, it is fetched from a server that DEBUGINFOD_URLS names.",
    .examples =
        "  memoir symbolize run7\n"
        "  memoir symbolize --objects cluster-lib run7     # on another machine\n",
};

struct SymbolizeArguments {
  std::string capture;
  std::vector<std::string> folders;
};

int Symbolize(const SymbolizeArguments& arguments) {
  const std::filesystem::path program = FindInstallTree().symbolizer;
  std::error_code ignored;
  if (!std::filesystem::exists(program, ignored)) {
    PrintMessage(
        program.string() +
        " is not there: this Memoir was built without libdw (docs/packaging/dependencies.md); install libdw-dev, "
        "liblzma-dev and libbz2-dev (Debian, Ubuntu) and build it again");
    return kExitError;
  }
  std::vector<std::string> command = {program.string()};
  for (const std::string& folder : arguments.folders) command.insert(command.end(), {"--objects", folder});
  command.push_back(arguments.capture);
  const SpawnResult child = Spawn(command, {});
  if (child.pid == 0) {
    PrintMessage(fmt::format("cannot start {}: {}", program.string(), std::strerror(child.error)));
    return kExitError;
  }
  const ChildResult result = ResultOf(WaitFor(child.pid));
  if (result.signal == SIGINT || result.signal == SIGTERM) return result.exit_code;
  if (result.signal != 0)
    PrintMessage(fmt::format("{} ended with signal {}; the capture is as it was", program.string(), result.signal));
  return result.exit_code == 0 ? kExitFine : kExitError;
}

}  // namespace

int SymbolizeVerb(const std::vector<std::string>& arguments) {
  const auto app = MakeArguments(kHelp);
  SymbolizeArguments asked;
  app->add_option("CAPTURE", asked.capture, "folder of the capture");
  app->add_option("--objects", asked.folders,
                  "folder with copies of libraries that are not where they were; repeatable")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  if (const auto code = ParseArguments(*app, "symbolize", arguments)) return *code;
  if (asked.capture.empty()) return FailUsage("symbolize", "no capture given: memoir symbolize CAPTURE");
  for (const std::string& folder : asked.folders) {
    std::error_code error;
    const std::filesystem::file_status there = std::filesystem::status(folder, error);
    if (std::filesystem::is_directory(there)) continue;
    const bool missing = there.type() == std::filesystem::file_type::not_found;
    return FailUsage("symbolize", fmt::format("--objects {}: {}", folder,
                                              missing ? "there is no such folder" : "not a folder that can be read"));
  }
  return Symbolize(asked);
}

}  // namespace memoir
