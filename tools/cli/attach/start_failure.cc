#include "tools/cli/attach/start_failure.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "tools/cli/installed/python_facts.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/printed_messages.h"

namespace memoir {
namespace {

std::string WhyNotStarted(const std::string& program, int error) {
  std::error_code ignored;
  if (program.empty()) return "its name is empty; a variable that is not set?";
  if (program.starts_with('-')) return "no such command; options of memoir stand before the command";
  if (std::filesystem::is_directory(program, ignored)) return "it is a directory; name the program in it";
  const std::string interpreter = ShebangOf(program);
  if (error == ENOENT && !interpreter.empty()) {
    return "its first line asks for " + interpreter +
           ", which does not exist; correct that line, or put an interpreter before the script";
  }
  if (error == ENOENT) return "no such command; check the name and PATH";
  return std::string(std::strerror(error)) + "; check its permissions";
}

}  // namespace

int ReportStartFailure(const std::vector<std::string>& command, int error) {
  const bool missing = error == ENOENT;
  PrintMessage("cannot start " + (command.front().empty() ? "''" : command.front()) + ": " +
               WhyNotStarted(command.front(), error));
  return missing ? kExitCommandNotFound : kExitCannotExecute;
}

}  // namespace memoir
