#include "tools/cli/terminal/nearest.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace memoir {
namespace {

const std::vector<std::string> kWords = {"--output", "--max-size", "--ring-dir", "--ring-size", "--rank", "--quiet"};

TEST(NearestWord, TypingMistakes) {
  EXPECT_EQ(NearestWord("--ouput", kWords), "--output");
  EXPECT_EQ(NearestWord("--uotput", kWords), "--output");  // swapped neighbours
  EXPECT_EQ(NearestWord("--max_size", kWords), "--max-size");
  EXPECT_EQ(NearestWord("--Rank", kWords), "--rank");
}

TEST(NearestWord, Beginnings) { EXPECT_EQ(NearestWord("--out", kWords), "--output"); }

TEST(NearestWord, NothingIsNear) {
  EXPECT_EQ(NearestWord("--epochs", kWords), "");
  EXPECT_EQ(NearestWord("", kWords), "");
  EXPECT_EQ(NearestWord(std::string(1000, 'a'), kWords), "");
}

TEST(DidYouMean, OnlyWhenThereIsSomethingToSay) {
  EXPECT_EQ(DidYouMean("--ouput", kWords), "; did you mean --output?");
  EXPECT_EQ(DidYouMean("xyzzy", kWords), "");
}

}  // namespace
}  // namespace memoir
