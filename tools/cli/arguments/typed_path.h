// Makes paths and the program's name for the commands that Memoir prints. A user can paste these commands into a shell
// in the working folder.
#ifndef TOOLS_CLI_ARGUMENTS_TYPED_PATH_H_
#define TOOLS_CLI_ARGUMENTS_TYPED_PATH_H_

#include <string>

#include "tools/view/terminal/typed_word.h"

namespace memoir {

// Puts "./" before a path that begins with "-", so that it is not read as an option.
std::string WithDotSlash(const std::string& path);
// Returns `path` as a word for a shell, relative to the working folder if `path` is inside this folder.
std::string TypedPath(const std::string& path);

// Decides how printed commands begin (printed_command.h). `started_as` is argv[0], for example a script that starts
// this program. If a shell finds this program or `started_as` under the program's name, commands begin with this name,
// such as "memoir". Otherwise they begin with the program's path. Call this function in main, before threads start.
void NameProgramInCommands(const std::string& started_as);

}  // namespace memoir

#endif  // TOOLS_CLI_ARGUMENTS_TYPED_PATH_H_
