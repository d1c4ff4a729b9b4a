// The effects of `memoir live`'s keys on the control file, and their messages.
#include "tools/cli/live/live_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "tests/captures/capture_builder.h"

namespace memoir {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class LiveKeysTest : public ::testing::Test {
 protected:
  // Ranks that are in a step.
  void SetUp() override {
    figures_.folder = folder_.path();
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      LiveProcess& process = figures_.processes.emplace_back();
      process.rank = rank;
      process.pid = 4'194'900 + rank;  // of no process
      process.step_source = StepSource::kProgram;
    }
  }
  void Press(std::string_view keys) {
    for (const char key : keys) keys_.Press(key, figures_);
  }
  // The recorder begins with the next step.
  void Begin(std::size_t process, std::uint64_t steps, std::uint64_t first) {
    FullStepRequest& asked = figures_.processes[process].asked;
    asked = {asked.times + 1, steps, first, 1, true};
  }
  void End(std::size_t process) {
    FullStepRequest& asked = figures_.processes[process].asked;
    asked.begun = asked.steps;
    asked.open = false;
  }
  const std::string& Said() {
    keys_.CheckRequests(figures_);
    return keys_.message();
  }
  std::string Written() const {
    std::ifstream file(folder_ / "control");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const testing::TemporaryFolder folder_;
  LiveFigures figures_;
  LiveKeys keys_;
};

TEST_F(LiveKeysTest, AKnownStepIsNoChoiceOfTheUsers) {
  figures_.processes.front().level = v1::LEVEL_MEMORY;
  figures_.processes.front().collapses_repeated_steps = true;
  EXPECT_THAT(keys_.Line(figures_), HasSubstr("o recording off"));
  Press("o");
  EXPECT_EQ(Written(), "off\n");
  figures_.processes.front().level = v1::LEVEL_OFF;
  EXPECT_THAT(keys_.Line(figures_), HasSubstr("o recording on"));
}

TEST_F(LiveKeysTest, LevelsAndASnapshot) {
  Press("o");
  EXPECT_EQ(Written(), "off\n");
  figures_.processes[0].level = v1::LEVEL_OFF;
  Press("m");
  EXPECT_EQ(Written(), "off\n") << "it is off";
  Press("o");
  EXPECT_EQ(Written(), "on\n");
  Press("s");
  EXPECT_EQ(Written(), "snapshot\n");
  EXPECT_EQ(Said(), "a snapshot is requested");
}

TEST_F(LiveKeysTest, StepsInFullOfAllRanks) {
  Begin(0, 9, 1);  // by somebody else, before
  End(0);
  Press("12w");
  EXPECT_EQ(Written(), "steps 12\n");
  EXPECT_EQ(Said(), "12 steps in full are asked for, from the next step on; begun in 0 of 2 processes");
  Begin(1, 12, 1000);
  EXPECT_THAT(Said(), EndsWith("; begun in 1 of 2 processes"));
  Begin(0, 12, 1000);
  figures_.processes[0].asked.begun = 5;
  EXPECT_EQ(Said(), "step 5 of 12 in full; so in 2 of 2 processes");
  End(0);
  EXPECT_EQ(Said(), "step 1 of 12 in full; so in 1 of 2 processes");
  End(1);
  const std::string over =
      "steps 1,000 to 1,011 were recorded in full: memoir show --steps 1000:1012 " + folder_.path();
  EXPECT_EQ(Said(), over);
  Begin(0, 2, 2000);
  EXPECT_EQ(Said(), over) << "of somebody else's nothing is said";
}

TEST_F(LiveKeysTest, TheNumberIsOfTheNextKeyAlone) {
  EXPECT_THAT(keys_.Line(figures_), EndsWith("w 3 steps in full"));
  Press("01");
  EXPECT_THAT(keys_.Line(figures_), EndsWith("w 1 step in full"));
  Press("xw");
  EXPECT_EQ(Written(), "steps 3\n");
  Press("1234567w");
  EXPECT_EQ(Written(), "steps 123456\n") << "as many digits as are taken";
  EXPECT_THAT(Said(), StartsWith("123,456 steps in full"));
}

TEST_F(LiveKeysTest, SaysThatNothingBeginsSteps) {
  for (LiveProcess& process : figures_.processes) process.step_source = StepSource::kNone;
  Press("1w");
  EXPECT_THAT(Said(), StartsWith("1 step in full is asked for, but no step has begun so far"));
  for (LiveProcess& process : figures_.processes) process.state = LiveState::kEnded;
  EXPECT_THAT(Said(), HasSubstr("the program ended before a step began"));
  EXPECT_EQ(keys_.Line(figures_), "q quit");
}

}  // namespace
}  // namespace memoir
