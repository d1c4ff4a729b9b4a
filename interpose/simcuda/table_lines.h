// The lines of a table that users may write (profiles.txt, workspaces.txt): trimmed, without comments, none empty.
#ifndef INTERPOSE_SIMCUDA_TABLE_LINES_H_
#define INTERPOSE_SIMCUDA_TABLE_LINES_H_

#include <string>
#include <string_view>

namespace memoir::simcuda {

std::string_view Trimmed(std::string_view text);

class TableLines {
 public:
  explicit TableLines(std::string_view text) : rest_(text) {}

  bool Next();  // false: no more
  std::string_view line() const { return line_; }

  // Of "left = right"; false: the line has no '='.
  bool Split(std::string_view& left, std::string_view& right) const;
  // An error of the line that was read last.
  std::string Error(const std::string& what) const { return "line " + std::to_string(number_) + ": " + what; }

 private:
  std::string_view rest_;
  std::string_view line_;
  int number_ = 0;
};

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_TABLE_LINES_H_
