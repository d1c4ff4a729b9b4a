// The message if a rank is given twice.
#include "tracker/session/process/rank.h"

#include <gtest/gtest.h>

#include "tests/session/variables.h"

namespace memoir {
namespace {

TEST(RankTest, LaunchersThatContradictEachOtherAreSaidWithAFix) {
  const Variables variables{{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}};
  EXPECT_EQ(FindRank(std::nullopt, std::nullopt).conflict,
            "RANK=0 (torchrun) and SLURM_PROCID=1 (Slurm) contradict each other: recorded as rank 0; MEMOIR_RANK=N "
            "decides");
}

TEST(RankTest, TheFixEndsTheComplaint) {
  const Variables variables{
      {"MEMOIR_RANK", "1"}, {"RANK", "0"}, {"WORLD_SIZE", "2"}, {"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}};
  const Rank rank = FindRank(1, std::nullopt);
  EXPECT_EQ(rank.rank, 1u);
  EXPECT_EQ(rank.world_size, 2u);
  EXPECT_EQ(rank.conflict, "");
  EXPECT_EQ(FindRank(0, ProcessGroup{1, 2}).conflict, "") << "the argument decides likewise";
}

TEST(RankTest, ARankBeyondTheWorldIsNamedAsTheUserNamedIt) {
  const Variables variables{{"RANK", "0"}, {"WORLD_SIZE", "2"}};
  EXPECT_EQ(FindRank(5, std::nullopt).conflict, "rank=5 is no rank of 2: recorded as rank 5; name one below 2");
  const Variables by_variable{{"MEMOIR_RANK", "5"}};
  EXPECT_EQ(FindRank(5, std::nullopt).conflict, "MEMOIR_RANK=5 is no rank of 2: recorded as rank 5; name one below 2");
}

TEST(RankTest, VariablesThatAreNoNumbersArePassedOverAndSaid) {
  const Variables variables{{"RANK", "abc"}};
  EXPECT_EQ(FindRank(std::nullopt, std::nullopt).source, "none");
  const std::string said = "RANK=abc (torchrun) is not a number: ignored; MEMOIR_RANK=N sets the rank";
  EXPECT_EQ(FindRank(std::nullopt, std::nullopt).conflict, said);
  EXPECT_EQ(FindRank(std::nullopt, ProcessGroup{1, 2}).conflict, said) << "which is known, and need not be said again";
  EXPECT_EQ(FindRank(0, std::nullopt).conflict, "") << "the fix ends the complaint";
  const Variables others{{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "many"}};
  const Rank rank = FindRank(std::nullopt, std::nullopt);
  EXPECT_EQ(rank.rank, 1u);
  EXPECT_EQ(rank.conflict, said);
}

TEST(RankTest, ANumberOfRanksThatIsNoneIsSaid) {
  const Variables variables{{"RANK", "1"}, {"WORLD_SIZE", "many"}};
  const Rank rank = FindRank(std::nullopt, std::nullopt);
  EXPECT_EQ(rank.rank, 1u);
  EXPECT_EQ(rank.world_size, 0u);
  EXPECT_EQ(rank.conflict, "WORLD_SIZE=many (torchrun) is not a number: ignored; set it to the number of ranks");
}

TEST(RankTest, VariablesThatAreNotAskedMayHoldAnything) {
  const Variables variables{{"TORCHELASTIC_RUN_ID", "x"}, {"RANK", "1"}, {"WORLD_SIZE", "2"}, {"SLURM_PROCID", "abc"}};
  EXPECT_EQ(FindRank(std::nullopt, std::nullopt).conflict, "");
  const Variables empty{{"PMI_RANK", ""}};
  EXPECT_EQ(FindRank(std::nullopt, std::nullopt).conflict, "");
}

}  // namespace
}  // namespace memoir
