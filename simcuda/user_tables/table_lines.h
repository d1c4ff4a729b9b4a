// Reads the lines of a table that users may write (profiles.txt, workspaces.txt): trimmed, without comments and empty
// lines.
#ifndef SIMCUDA_USER_TABLES_TABLE_LINES_H_
#define SIMCUDA_USER_TABLES_TABLE_LINES_H_

#include <string>
#include <string_view>

namespace memoir::simcuda {

std::string_view Trimmed(std::string_view text);

class TableLines {
 public:
  explicit TableLines(std::string_view text) : rest_(text) {}

  bool Next();  // false at the end
  std::string_view line() const { return line_; }

  // Splits "left = right". False if the line has no '='.
  bool Split(std::string_view& left, std::string_view& right) const;
  int number() const { return number_; }  // number of the current line, from 1
  // An error message for the current line.
  std::string Error(const std::string& what) const { return ErrorAt(number_, what); }
  static std::string ErrorAt(int number, const std::string& what) {
    return "line " + std::to_string(number) + ": " + what;
  }

 private:
  std::string_view rest_;
  std::string_view line_;
  int number_ = 0;
};

}  // namespace memoir::simcuda

#endif  // SIMCUDA_USER_TABLES_TABLE_LINES_H_
