// The environment variables that make a command's processes record. `memoir run` sets them for the command, and `memoir
// run --print-env` prints them for users who start the processes themselves.
#ifndef TOOLS_CLI_ATTACH_ATTACHMENT_H_
#define TOOLS_CLI_ATTACH_ATTACHMENT_H_

#include <string>

#include "tools/cli/attach/launcher.h"
#include "tools/cli/installed/install_tree.h"

namespace memoir {

struct Attachment {
  EnvironmentVariables set;
  EnvironmentVariables prepended;  // put before the variable's value, with a colon between
};

// Returns the variables for this installation. Prints on standard error which files the installation lacks.
Attachment AttachmentOf(const InstallTree& tree);

// Adds the variables for this process's children. For a simulated world, also adds the variables that its launcher
// would set.
void AddAttachment(EnvironmentVariables& variables, const Attachment& attachment);

// Returns `export` lines for any POSIX shell. They keep the contents of LD_PRELOAD and PYTHONPATH in that shell.
std::string AsShell(const EnvironmentVariables& variables, const Attachment& attachment);
// Returns one JSON object, name to value. LD_PRELOAD and PYTHONPATH include their values in this process.
std::string AsJson(const EnvironmentVariables& variables, const Attachment& attachment);

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_ATTACHMENT_H_
