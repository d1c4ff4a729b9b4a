#include "tools/view/terminal/text_table.h"

#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

TEST(Table, AlignsNamesLeftAndNumbersRight) {
  TextTable table({"name", "bytes"});
  table.AddRow({"a", "1 B"});
  table.AddRow({"longer", "10 B"});
  EXPECT_EQ(table.Render({.width = 40}, 2),
            "  name    bytes\n"
            "  a         1 B\n"
            "  longer   10 B\n");
}

TEST(Table, ShortensNamesToTheTerminal) {
  TextTable table({"name", "bytes"});
  table.AddRow({std::string(100, 'x'), "1 B"});
  std::istringstream lines(table.Render({.width = 40}, 2));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(DisplayWidth(line), 40u);
}

TEST(Table, DropsColumnsFromTheRightWhenTheyDoNotFit) {
  TextTable table({"name", "first", "second", "third"});
  table.AddRow({std::string(30, 'n'), "1234567890", "1234567890", "last"});
  const std::string text = table.Render({.width = 46}, 0);
  EXPECT_NE(text.find("second"), std::string::npos);
  EXPECT_EQ(text.find("third"), std::string::npos);
}

TEST(Table, ColorsOnlyWhereTheyShow) {
  TextTable table({"name", "bytes"});
  table.AddTotal({"total", "1 B"});
  EXPECT_EQ(table.Render({.width = 40}, 0).find('\x1b'), std::string::npos);
  EXPECT_NE(table.Render({.width = 40, .color = true}, 0).find("\x1b[1mtotal"), std::string::npos);
}

TEST(Table, DrawsSharesOnATerminal) {
  TextTable table({"name", "share"});
  table.AddRow({"a", "40.0%"});
  table.AddRow({"b", "20.0%"});
  table.AddRow({"c", "-"});
  table.AddTotal({"total", "100.0%"});
  EXPECT_EQ(table.Render({.width = 25, .interactive = true}, 0),
            "name    share\n"
            "a       40.0%  ██████████\n"
            "b       20.0%  █████\n"
            "c           -\n"
            "total  100.0%\n");
  EXPECT_EQ(table.Render({.width = 25}, 0).find("█"), std::string::npos) << "other programs read the numbers";
  EXPECT_EQ(table.Render({.width = 20, .interactive = true}, 0).find("█"), std::string::npos) << "no room";
  TextTable without({"name", "bytes"});
  without.AddRow({"a", "40.0%"});
  EXPECT_EQ(without.Render({.width = 40, .interactive = true}, 0).find("█"), std::string::npos);
}

}  // namespace
}  // namespace memoir
