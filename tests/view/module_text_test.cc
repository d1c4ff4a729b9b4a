// The tree of modules as text: layers that are alike are one line, unless all lines are asked for.
#include "tools/view/capture/module_text.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace memoir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

SummaryRow Module(const std::string& path, const std::string& class_name, std::uint64_t bytes, std::uint64_t calls) {
  SummaryRow row;
  row.name = path;
  row.module.root = "Net";
  row.module.path = path;
  row.module.class_name = class_name;
  row.count = calls;
  row.total.allocations = 1;
  row.total.allocated_bytes = row.total.bytes_at_peak = bytes;
  return row;
}

Summary FourLayers(std::uint64_t last) {
  Summary summary;
  summary.by = GroupBy::kModule;
  summary.module_calls = 17;
  summary.rows = {Module("", "Net", 1 << 20, 1)};
  for (int i = 0; i < 4; ++i) {
    const std::string path = "layers." + std::to_string(i);
    summary.rows.push_back(Module(path, "Block", 1 << 20, 2));
    summary.rows.push_back(Module(path + ".fc", "Linear", i == 3 ? last : 1 << 20, 2));
  }
  return summary;
}

TEST(ModuleText, LayersThatAreAlikeAreOneLine) {
  const std::string text = RenderModules(FourLayers(1 << 20), 10, {.width = 80});
  EXPECT_THAT(text, HasSubstr("    layers          8.0 MiB   88.9%    8.0 MiB   0 B       8\n"
                              "      0-3 Block ×4  8.0 MiB   88.9%    8.0 MiB   0 B       8      8\n"
                              "        (itself)    4.0 MiB   44.4%    4.0 MiB   0 B       4\n"
                              "        fc Linear   4.0 MiB   44.4%    4.0 MiB   0 B       4      8\n"
                              "  total             9.0 MiB  100.0%    9.0 MiB   0 B       9     17\n"));
}

TEST(ModuleText, OneThatDiffersBelowStandsByItself) {
  const std::string text = RenderModules(FourLayers(1 << 21), 10, {.width = 80});
  const std::size_t three = text.find("      0-2 Block ×3   6.0 MiB"), one = text.find("      3 Block        3.0 MiB");
  ASSERT_NE(three, std::string::npos) << text;
  ASSERT_NE(one, std::string::npos) << text;
  EXPECT_LT(three, one);  // the largest first
}

TEST(ModuleText, AllLinesWhereTheyAreAskedFor) {
  const std::string text = RenderModules(FourLayers(1 << 20), 0, {.width = 80});
  EXPECT_THAT(text, Not(HasSubstr("×")));
  EXPECT_THAT(text, HasSubstr("      3 Block      2.0 MiB"));
}

}  // namespace
}  // namespace memoir
