// The file of a library or program that a capture names, if this build of it is on this machine.
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
  std::optional<RegularFile> file;  // none: it is not here
  std::string others;               // what is in its place, such as another build, in a few words; "": nothing
};

// Where it was loaded from, else by its file name in one of `folders`: by its build id, or where it has none by its
// path alone. Opens no pipe and no device.
ObjectFile FindObjectFile(const NativeObjectName& object, const std::vector<std::string>& folders);

// "" for none; hexadecimal digits.
std::string BuildIdOf(const RegularFile& file);
// Whether it is of the form of one: captures come from elsewhere.
bool IsBuildId(const std::string& text);

}  // namespace memoir

#endif  // TOOLS_SYMBOLIZE_OBJECT_FILE_H_
