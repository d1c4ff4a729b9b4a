// The environment of a command that this process will start, as "NAME=value" strings.
#ifndef TOOLS_CLI_ATTACH_ENVIRONMENT_H_
#define TOOLS_CLI_ATTACH_ENVIRONMENT_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/cli/attach/attachment.h"

namespace memoir {

std::vector<std::string> CurrentEnvironment();
// Returns the environment of this process with `variables` added. The added variables replace variables of the same
// name.
std::vector<std::string> EnvironmentWith(const EnvironmentVariables& variables);

// Returns the value of TORCH_DEVICE_BACKEND_AUTOLOAD if this value prevents torch from starting Memoir; otherwise
// nullopt. Torch starts installed extensions only if the variable is not set, or is "1".
std::optional<std::string> AutoloadRefusal();

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_ENVIRONMENT_H_
