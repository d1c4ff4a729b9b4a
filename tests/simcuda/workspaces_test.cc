// Formulas of workspaces: those that are built in give what was published, and files in that form are read.
#include "simcuda/user_tables/workspaces.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "simcuda/configuration/built_in_tables.h"

namespace memoir::simcuda {
namespace {

using ::testing::HasSubstr;

std::uint64_t Value(const std::string& formula, std::initializer_list<WorkspaceFigure> figures = {}) {
  Workspaces workspaces;
  EXPECT_EQ(workspaces.Parse("cusolver.gesvd = " + formula), "") << formula;
  return workspaces.Bytes("cusolver.gesvd", figures);
}

TEST(Formulas, AreEvaluated) {
  EXPECT_EQ(Value("1 + 2 * 3 - 4 / 2"), 5u);
  EXPECT_EQ(Value("(1 + 2) * (3 + 4)"), 21u);
  EXPECT_EQ(Value("7 / 2 * 2"), 6u) << "division is of whole numbers";
  EXPECT_EQ(Value("max(2 MiB, 3KiB) + min(1, 2)"), (2u << 20) + 1) << "with units";
  EXPECT_EQ(Value("m * m + n", {{Word::kM, 100}, {Word::kN, 7}}), 10007u);
  EXPECT_EQ(Value("1 - 2"), 0u) << "never less than nothing";
  EXPECT_EQ(Value("1 / m"), 0u) << "a word without a figure is 0, and nothing is divided by it";
}

TEST(Formulas, AreBounded) {
  const std::uint64_t huge = UINT64_MAX;
  EXPECT_EQ(Value("m * m * m * m", {{Word::kM, huge}}), kMostWorkspace);
}

TEST(Formulas, WhatIsWrongIsNamedWithItsLine) {
  const std::pair<const char*, const char*> wrong[] = {
      {"\n\ncufft.smooth", "line 3: expected name = formula"},
      {"cufft.other = 1", "line 1: no workspace is called cufft.other"},
      {"cufft.smooth = elements * n", "no formula at 'n'"},
      {"cufft.smooth = 2 *", "no formula at ''"},
      {"cufft.smooth = (2 + 3", "no formula at ''"},
      {"cufft.smooth = 2 3", "no formula at '3'"},
      {"cufft.smooth = min(2)", "no formula at ')'"},
      {"cufft.smooth = 1.5", "no formula at '.5'"},
  };
  for (const auto& [text, expected] : wrong) {
    Workspaces workspaces;
    EXPECT_THAT(workspaces.Parse(text), HasSubstr(expected)) << text;
  }
  Workspaces workspaces;
  EXPECT_THAT(workspaces.Parse("cufft.smooth = " + std::string(10'000, '(')), HasSubstr("no formula"));
}

TEST(Formulas, TheLaterOfTwoCounts) {
  Workspaces workspaces;
  ASSERT_EQ(workspaces.Parse("# nothing\ncufft.smooth = 1\ncufft.smooth = 2 # measured\n"), "");
  EXPECT_EQ(workspaces.Bytes("cufft.smooth", {}), 2u);
  EXPECT_EQ(workspaces.Bytes("cufft.rough", {}), 0u);
}

class BuiltInWorkspacesTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(workspaces.Parse(BuiltInWorkspaces()), ""); }
  std::uint64_t Solver(const char* name, std::uint64_t m, std::uint64_t n, std::uint64_t batch = 1) const {
    return workspaces.Bytes(name, {{Word::kM, m}, {Word::kN, n}, {Word::kBatch, batch}, {Word::kElement, 1}});
  }

  Workspaces workspaces;
};

TEST_F(BuiltInWorkspacesTest, AreWhatUsersPublished) {
  EXPECT_EQ(workspaces.size(), 18u);
  EXPECT_EQ(Solver("cusolver.gesvdj", 20000, 20000) * 4, 3211456640u);
  EXPECT_EQ(Solver("cusolver.syevj_batched", 4, 4, 1), 2077u);
  EXPECT_EQ(Solver("cusolver.syevj_batched", 4, 4, 512) - Solver("cusolver.syevj_batched", 4, 4, 256), 256u * 1049);
  EXPECT_EQ(Solver("cusolver.syevj_batched", 4, 4, 2'047'171), 2'147'483'407u);
}

// docs/tested/real_card.md.
TEST_F(BuiltInWorkspacesTest, AreWhatACardAskedFor) {
  const auto transforms = [&](const char* name, std::uint64_t elements, std::uint64_t batch) {
    return workspaces.Bytes(name, {{Word::kCount, elements}, {Word::kBatch, batch}, {Word::kElement, 8}});
  };
  EXPECT_EQ(transforms("cufft.smooth", 16 * 4096, 16), 0u);
  EXPECT_EQ(transforms("cufft.large", 16 * 65536, 16), 16u * 65536 * 8);
  EXPECT_EQ(transforms("cufft.prime_real", 16 * 1021 * 511, 16), 16u * 1021 * 511 * 16);
  EXPECT_EQ(transforms("cufft.prime_real", 1021 * 511, 1), 1021u * 511 * 32);
  EXPECT_EQ(workspaces.Bytes("cudnn.attention", {}), 256u);
}

// Where a size of 32 bits is known to overflow, and where it is known not to.
TEST_F(BuiltInWorkspacesTest, OverflowWhereUsersMetIt) {
  constexpr std::uint64_t kMost = INT32_MAX;
  EXPECT_LE(Solver("cusolver.syevd", 26732, 26732), kMost);
  EXPECT_GT(Solver("cusolver.syevd", 26733, 26733), kMost);
  EXPECT_LE(Solver("cusolver.gesvd", 18900, 18900), kMost);
  EXPECT_GT(Solver("cusolver.gesvd", 19000, 19000), kMost);
  EXPECT_LE(Solver("cusolver.gesvd", 46340, 1), kMost);
  EXPECT_GT(Solver("cusolver.gesvd", 46341, 1), kMost);
}

}  // namespace
}  // namespace memoir::simcuda
