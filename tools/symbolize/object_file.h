// Finds the file of a library or program that a capture names, if this machine has the same build.
#ifndef TOOLS_SYMBOLIZE_OBJECT_FILE_H_
#define TOOLS_SYMBOLIZE_OBJECT_FILE_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/read/regular_file.h"
#include "tools/read/symbols.h"

namespace memoir {

struct ObjectFile {
  std::string path;
  std::optional<RegularFile> file;  // nullopt: not on this machine
  std::string others;               // why files at the searched places do not match, in a few words; "": no such files
};

// Looks for the file at its recorded path, then for a file of the same name in `folders`. The build id must match. If
// the capture has no build id, any library or program at these places matches. Opens no pipe and no device.
ObjectFile FindObjectFile(const NativeObjectName& object, const std::vector<std::string>& folders);

// Returns the build id as hexadecimal digits. Empty if the file has no build id.
std::string BuildIdOf(const RegularFile& file);
// Returns true if the text has the form of a build id. Captures are not trusted.
bool IsBuildId(const std::string& text);

}  // namespace memoir

#endif  // TOOLS_SYMBOLIZE_OBJECT_FILE_H_
