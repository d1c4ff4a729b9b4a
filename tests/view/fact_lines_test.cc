#include "tools/view/oom/fact_lines.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace memoir {
namespace {

const std::vector<OutOfMemoryFact> kFacts = {
    {"what\n", 0}, {"why\nbecause\n", 0}, {"who\n", 2}, {"how much\nand when\n", 1}, {"now\n", 3}};
constexpr char kMore[] = "more\n";

TEST(FactLines, AllWhereThereIsRoom) {
  EXPECT_TRUE(FitsInLines(kFacts, 7));
  EXPECT_EQ(FitInLines(kFacts, 7, kMore), JoinFacts(kFacts));
}

// Lines in the middle of a fact are never the last.
TEST(FactLines, WholeFactsLeaveTheLeastFirst) {
  EXPECT_EQ(FitInLines(kFacts, 6, kMore), "what\nwhy\nbecause\nwho\nnow\nmore\n");
  EXPECT_EQ(FitInLines(kFacts, 5, kMore), "what\nwhy\nbecause\nnow\nmore\n");
  EXPECT_EQ(FitInLines(kFacts, 4, kMore), "what\nwhy\nbecause\nmore\n");
  EXPECT_EQ(FitInLines(kFacts, 1, kMore), "what\nwhy\nbecause\nmore\n") << "what an error is without is none";
}

}  // namespace
}  // namespace memoir
