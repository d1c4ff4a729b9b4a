#include "tools/view/terminal/shortened_names.h"

#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

std::vector<std::string> Names(const std::string& before, const std::string& behind, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(before + std::to_string(i) + behind);
  return names;
}

TEST(ShortenedApart, NamesThatDifferStillDo) {
  std::vector<std::string> names = Names("transformer.encoder.layers.", ".self_attn.in_proj_weight", 12);
  for (const std::string& name : Names("transformer.encoder.layers.", ".self_attn.out_proj.weight", 12))
    names.push_back(name);
  for (const std::size_t width : {26u, 30u, 40u}) {
    const std::vector<std::string> shown = ShortenedApart(names, width);
    EXPECT_EQ(std::set<std::string>(shown.begin(), shown.end()).size(), names.size()) << width;
    for (std::size_t i = 0; i < names.size(); ++i) {
      EXPECT_LE(DisplayWidth(shown[i]), width) << shown[i];
      EXPECT_NE(shown[i].find("." + std::to_string(i % 12) + "."), std::string::npos) << shown[i];
    }
  }
}

TEST(ShortenedApart, OthersAreCutAsEver) {
  EXPECT_EQ(ShortenedApart({"aten::add", "abcdefghijklmnopqrst", "x"}, 10),
            (std::vector<std::string>{"aten::add", Shortened("abcdefghijklmnopqrst", 10), "x"}));
  EXPECT_EQ(ShortenedApart({"same.same.same.same", "same.same.same.same"}, 8)[1], Shortened("same.same.same.same", 8));
  EXPECT_EQ(ShortenedApart({}, 8).size(), 0u);
  for (const std::string& shown : ShortenedApart(Names("模型模型模型模型模型", "模型模型模型模型模型", 3), 7))
    EXPECT_LE(DisplayWidth(shown), 7u) << shown;
}

}  // namespace
}  // namespace memoir
