// Which module's calls begin steps.
#include "tracker/repeated_steps/step_module.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace memoir {
namespace {

constexpr std::uint64_t kEncoder = 0x7f0000001000, kModel = 0x7f0000002000, kDecoder = 0x7f0000003000;

std::vector<std::uint64_t> StepsOf(StepModule& steps, std::uint64_t module, std::uint32_t calls) {
  std::vector<std::uint64_t> begun;
  for (std::uint32_t i = 0; i < calls; ++i) {
    if (const auto step = steps.NoteCall(module)) begun.push_back(*step);
  }
  return begun;
}

TEST(StepModuleTest, StepsHaveTheNumbersOfTheCalls) {
  StepModule steps;
  EXPECT_EQ(StepsOf(steps, kModel, kCallsOfStepModule - 1), std::vector<std::uint64_t>{});
  EXPECT_EQ(StepsOf(steps, kModel, 3),
            (std::vector<std::uint64_t>{kCallsOfStepModule - 1, kCallsOfStepModule, kCallsOfStepModule + 1}));
}

TEST(StepModuleTest, OneThatIsCalledOnceIsNotIt) {
  StepModule steps;
  EXPECT_EQ(steps.NoteCall(kEncoder), std::nullopt);
  EXPECT_EQ(StepsOf(steps, kModel, 2 * kCallsOfStepModule).size(), kCallsOfStepModule + 1);
  EXPECT_EQ(steps.NoteCall(kEncoder), std::nullopt);
}

TEST(StepModuleTest, OfTwoInTurnItIsTheFirst) {
  StepModule steps;
  std::vector<std::uint64_t> begun;
  for (std::uint32_t i = 0; i < 40; ++i) {
    if (const auto step = steps.NoteCall(kEncoder)) begun.push_back(*step);
    EXPECT_EQ(steps.NoteCall(kDecoder), std::nullopt);
  }
  EXPECT_EQ(begun.size(), 40 - kCallsOfStepModule + 1);
}

TEST(StepModuleTest, ItStaysWhereAnotherIsCalledMoreOften) {
  StepModule steps;
  StepsOf(steps, kModel, kCallsOfStepModule);
  for (std::uint64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(StepsOf(steps, kDecoder, kCallsOfStepModule - 1).size(), 0u);
    EXPECT_EQ(steps.NoteCall(kModel), kCallsOfStepModule + i);
  }
}

TEST(StepModuleTest, AnotherTakesOverFromOneThatIsCalledNoMore) {
  StepModule steps;
  StepsOf(steps, kEncoder, kCallsOfStepModule);
  EXPECT_EQ(StepsOf(steps, kModel, kCallsOfStepModule + 1),
            (std::vector<std::uint64_t>{kCallsOfStepModule, kCallsOfStepModule + 1}))
      << "numbers go on";
  EXPECT_EQ(steps.NoteCall(kEncoder), std::nullopt);
}

TEST(StepModuleTest, AmongManyInTurnOneIsFound) {
  StepModule steps;
  std::uint64_t begun = 0;
  for (std::uint32_t pass = 0; pass < kCallsOfStepModule; ++pass) {
    for (std::uint64_t layer = 0; layer < 100; ++layer) begun += steps.NoteCall(kModel + layer * 48) ? 1 : 0;
  }
  EXPECT_EQ(begun, 1u) << "the first that was called so often";
}

TEST(StepModuleTest, ThousandsThatAreCalledOnceHideNone) {
  StepModule steps;
  for (std::uint64_t i = 1; i <= 5000; ++i) EXPECT_EQ(steps.NoteCall(i * 48), std::nullopt);
  EXPECT_EQ(StepsOf(steps, kModel, kCallsOfStepModule).size(), 1u);
}

}  // namespace
}  // namespace memoir
