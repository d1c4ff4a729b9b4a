// Opens a capture folder and groups its part files by the process that wrote them.
#ifndef TOOLS_READ_CAPTURE_FOLDER_H_
#define TOOLS_READ_CAPTURE_FOLDER_H_

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
  std::vector<PartFile> parts;  // in the order of their chunks; at least one
};

struct CaptureFolder {
  std::vector<ProcessFiles> processes;  // by rank, restart and start time; processes without a rank last
  std::vector<Damage> damage;           // found by opening, including damage inside of parts
  Symbols symbols;                      // names of native frames
  // The temporary file with the parts, if the capture was imported from another program's file. Otherwise nullptr.
  std::shared_ptr<const ConvertedFile> converted;
};

// Returns true if a launcher, torch or the user set the rank.
bool HasRank(const v1::ProcessInfo& info);

// Opens a folder, one part file, the parts whose names begin with a path ("run1/r00003.a0.host.123"), or another
// program's file (tools/import). Every error message is one line with the cause and the remedy.
absl::StatusOr<CaptureFolder> OpenFolder(const std::string& path);

}  // namespace memoir

#endif  // TOOLS_READ_CAPTURE_FOLDER_H_
