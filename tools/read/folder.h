// A capture folder: its part files, grouped into the processes that wrote them.
#ifndef TOOLS_READ_FOLDER_H_
#define TOOLS_READ_FOLDER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/import/foreign_file.h"
#include "tools/read/damage.h"
#include "tools/read/part_file.h"
#include "tools/read/symbols.h"

namespace memoir {

struct ProcessFiles {
  std::vector<PartFile> parts;  // in the order of their chunks, at least one
};

struct CaptureFolder {
  std::vector<ProcessFiles> processes;             // by rank, restart, start time; those without a rank last
  std::vector<Damage> damage;                      // of opening; what the parts' walks found included
  Symbols symbols;                                 // of native frames
  std::shared_ptr<const ConvertedFile> converted;  // what the parts lie in, of a file of another program
};

// Whether a launcher, torch or the user said which rank it is.
bool HasRank(const v1::ProcessInfo& info);

// `path`: a folder, one part file, the beginning of part files' names ("run1/r00003.a0.host.123"), or a file of another
// program (tools/import). Every error is one line: what it is instead, and what to do.
absl::StatusOr<CaptureFolder> OpenFolder(const std::string& path);

}  // namespace memoir

#endif  // TOOLS_READ_FOLDER_H_
