// Paths as they can be typed in the working folder and pasted into a shell.
#ifndef TOOLS_CLI_ARGUMENTS_TYPED_PATH_H_
#define TOOLS_CLI_ARGUMENTS_TYPED_PATH_H_

#include <string>

#include "tools/view/terminal/typed_word.h"

namespace memoir {

// Puts "./" before a path that begins with "-", so that it is not read as an option.
std::string NotAnOption(const std::string& path);
std::string TypedPath(const std::string& path);

// Decides how printed commands begin (printed_command.h): with the program's name, such as "memoir", if a shell finds
// under this name this program or `started_as` (argv[0], for example a script that starts the program); otherwise with
// the program's path. Call it in main, before it starts threads.
void NameProgramInCommands(const std::string& started_as);

}  // namespace memoir

#endif  // TOOLS_CLI_ARGUMENTS_TYPED_PATH_H_
