// What `memoir diff --map OLD=NEW` says: what the first recording calls OLD, the second calls NEW.
//
// OLD may be a module's path or the beginning of one, a class, an operator, a function, a file, or a folder of files.
#ifndef TOOLS_ANALYZE_COMPARE_RENAMES_H_
#define TOOLS_ANALYZE_COMPARE_RENAMES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memoir {

struct Rename {
  std::string from, to;
};
// "layers=blocks"; none: there is no '=', or nothing before it.
std::optional<Rename> ParseRename(std::string_view text);

class Renames {
 public:
  explicit Renames(std::vector<Rename> renames = {}) : renames_(std::move(renames)), used_(renames_.size()) {}
  // A path of names between `separator`: "layers.3.mlp" with layers=blocks is "blocks.3.mlp".
  std::string OfPath(std::string_view path, char separator = '.');
  // One name as a whole: of an operator, a class.
  std::string OfName(std::string_view name);
  // Parts of a path of a file that stand together: "/src/net.py" with net.py=model.py, "/a/old/x.py" with old=new.
  std::string OfFile(std::string_view file);
  // Those that nothing had the name of.
  std::vector<Rename> Unused() const;

 private:
  std::vector<Rename> renames_;
  std::vector<bool> used_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_RENAMES_H_
