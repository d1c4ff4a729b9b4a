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

// Adds the variables of `attachment` to `variables`, for a child of this process. If `variables` choose a simulated
// world, also adds the variables that the launcher of this world would set (simulated_world.h).
void AddAttachment(EnvironmentVariables& variables, const Attachment& attachment);

// Returns `export` lines for any POSIX shell. The lines keep the values that LD_PRELOAD and PYTHONPATH have in that
// shell.
std::string AsShell(const EnvironmentVariables& variables, const Attachment& attachment);
// Returns one JSON object that maps names of variables to values. LD_PRELOAD and PYTHONPATH keep the values that they
// have in this process.
std::string AsJson(const EnvironmentVariables& variables, const Attachment& attachment);

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_ATTACHMENT_H_
