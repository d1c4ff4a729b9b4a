// A path as it can be typed in the working folder and pasted into a shell.
#ifndef TOOLS_CLI_ARGUMENTS_TYPED_PATH_H_
#define TOOLS_CLI_ARGUMENTS_TYPED_PATH_H_

#include <string>

namespace memoir {

std::string TypedPath(const std::string& path);

}  // namespace memoir

#endif  // TOOLS_CLI_ARGUMENTS_TYPED_PATH_H_
