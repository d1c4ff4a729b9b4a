// Paths as they can be typed in the working folder and pasted into a shell.
#ifndef TOOLS_CLI_ARGUMENTS_TYPED_PATH_H_
#define TOOLS_CLI_ARGUMENTS_TYPED_PATH_H_

#include <string>

namespace memoir {

std::string TypedPath(const std::string& path);
// Another word, quoted where a shell needs it.
std::string TypedWord(const std::string& shown);

// How the program at `path` is started: "memoir" where the shell finds one of that name, else by its path.
std::string TypedProgram(const std::string& path);

}  // namespace memoir

#endif  // TOOLS_CLI_ARGUMENTS_TYPED_PATH_H_
