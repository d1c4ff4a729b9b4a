// The environment by which a command's processes start to record: what `memoir run` sets for the command, and what
// `memoir run --print-env` prints for those who start their processes themselves.
#ifndef TOOLS_CLI_ATTACH_ATTACHMENT_H_
#define TOOLS_CLI_ATTACH_ATTACHMENT_H_

#include <string>

#include "tools/cli/attach/launcher.h"
#include "tools/cli/installed/install_tree.h"

namespace memoir {

struct Attachment {
  Variables set;
  Variables prepended;  // to what the variable holds, with a colon between
};

// Says, on standard error, what this installation cannot do.
Attachment AttachmentOf(const InstallTree& tree);

// For this process's own children: as they will find them. Of a simulated world also what its launcher would set.
void AddTo(Variables& variables, const Attachment& attachment);

// `export` lines for any POSIX shell; what LD_PRELOAD and PYTHONPATH hold where they are read stays.
std::string AsShell(const Variables& variables, const Attachment& attachment);
// One JSON object, name to value, with what this process's environment holds.
std::string AsJson(const Variables& variables, const Attachment& attachment);

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_ATTACHMENT_H_
