// Leaks whose tensors one variable holds.
#include "tools/analyze/lives/leak_causes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace memoir {
namespace {

using ::testing::ElementsAre;

// Leaks that differ only in their first holders. ROOT... stands for ROOT[…].
struct HeldLeaks {
  explicit HeldLeaks(const std::vector<std::string>& first_holders) {
    holders.looked = true;
    for (std::string name : first_holders) {
      for (std::size_t at = 0; (at = name.find("...", at)) != std::string::npos;) name.replace(at, 3, "[\xe2\x80\xa6]");
      Leak& leak = leaks.leaks.emplace_back();
      leak.device = "cpu";
      leak.steps = 20;
      holders.all.push_back({{name, 200, 2}, {"x (local of fit() in train.py)", 100, 1}});
      if (name.empty()) holders.all.back().clear();
    }
  }
  void AddGraph(std::vector<std::size_t> of) { leaks.causes.emplace_back().leaks = std::move(of); }
  const std::vector<LeakCause>& Causes() {
    AddCausesByHolder(holders, leaks);
    return leaks.causes;
  }

  Leaks leaks;
  LeakHolders holders;
};

TEST(LeakCauses, OfOneListAreOne) {
  HeldLeaks held({"t.seen...... (tuple, global of train.py)", "t.outs... (list, global of train.py)", "",
                  "t.seen... (list, global of train.py) \xe2\x86\x92 AddBackward0"});
  const std::vector<LeakCause>& causes = held.Causes();
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_THAT(causes[0].leaks, ElementsAre(0, 3));
  EXPECT_EQ(causes[0].variable, "t.seen (global of train.py)");
}

TEST(LeakCauses, VariablesOfOneNameInTwoPlacesAreTwo) {
  HeldLeaks held({"kept... (list, global of train.py)", "kept... (list, local of fit() in train.py)"});
  EXPECT_TRUE(held.Causes().empty());
}

TEST(LeakCauses, LeaksOfOneListThatBeganInDifferentStepsAreTwo) {
  HeldLeaks held({"kept... (list, global of train.py)", "kept... (list, global of train.py)"});
  held.leaks.leaks[1].since_step = 7;
  EXPECT_TRUE(held.Causes().empty());
}

TEST(LeakCauses, AGraphThatKeepsAllOfAListStays) {
  HeldLeaks held({"losses... (list, global of train.py)", "losses... (list, global of train.py)", "other"});
  held.AddGraph({0, 1, 2});
  const std::vector<LeakCause>& causes = held.Causes();
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].variable, "");
}

TEST(LeakCauses, GraphsOfOneListAreOne) {
  HeldLeaks held(std::vector<std::string>(5, "losses... (list, global of train.py)"));
  held.AddGraph({0, 2});
  held.AddGraph({1, 3});
  const std::vector<LeakCause>& causes = held.Causes();
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_THAT(causes[0].leaks, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(causes[0].variable, "losses (global of train.py)");
}

TEST(LeakCauses, AGraphWithOtherHoldersKeepsItsLeaks) {
  HeldLeaks held({"kept", "other", "kept", "kept"});
  held.AddGraph({0, 1});
  const std::vector<LeakCause>& causes = held.Causes();
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_THAT(causes[0].leaks, ElementsAre(0, 1));
  EXPECT_THAT(causes[1].leaks, ElementsAre(2, 3));
}

}  // namespace
}  // namespace memoir
