// Renames of `memoir diff --map OLD=NEW`: the name OLD in the first capture becomes the name NEW in the second.
//
// OLD is the path of a module, the first names of such a path, a class, an operator, a function, a file, or a folder.
#ifndef TOOLS_ANALYZE_COMPARE_MATCH_RENAMES_H_
#define TOOLS_ANALYZE_COMPARE_MATCH_RENAMES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memoir {

struct Rename {
  std::string from, to;
};
// Parses "layers=blocks". nullopt if '=' or the name before it is missing.
std::optional<Rename> ParseRename(std::string_view text);

class Renames {
 public:
  explicit Renames(std::vector<Rename> renames = {}) : renames_(std::move(renames)), used_(renames_.size()) {}
  // Renames the first names of a path. `separator`: the character between the names. With layers=blocks, "layers.3.mlp"
  // becomes "blocks.3.mlp".
  std::string RenamePath(std::string_view path, char separator = '.');
  // Renames a whole name, such as an operator's or a class's.
  std::string RenameName(std::string_view name);
  // Renames consecutive names of a file's path. With net.py=model.py, "/src/net.py" becomes "/src/model.py". With
  // old=new, "/a/old/x.py" becomes "/a/new/x.py".
  std::string RenameFile(std::string_view file);
  // Returns the renames whose old name has not occurred.
  std::vector<Rename> UnusedRenames() const;

 private:
  std::vector<Rename> renames_;
  std::vector<bool> used_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_MATCH_RENAMES_H_
