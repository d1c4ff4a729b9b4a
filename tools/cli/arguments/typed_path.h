// Paths as they can be typed in the working folder and pasted into a shell.
#ifndef TOOLS_CLI_ARGUMENTS_TYPED_PATH_H_
#define TOOLS_CLI_ARGUMENTS_TYPED_PATH_H_

#include <string>

#include "tools/view/terminal/typed_word.h"

namespace memoir {

// Puts "./" before a path that begins with "-", so that it is not read as an option.
std::string NotAnOption(const std::string& path);
std::string TypedPath(const std::string& path);

// Decides how printed commands begin (printed_command.h). If a shell finds this program under its name, or finds
// `started_as` (argv[0], for example a script that starts the program), commands begin with the name. Otherwise they
// begin with the program's path. Call it in main, before it starts threads.
void NameProgramInCommands(const std::string& started_as);

}  // namespace memoir

#endif  // TOOLS_CLI_ARGUMENTS_TYPED_PATH_H_
