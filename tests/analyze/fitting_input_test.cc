// The memory that a smaller input would have needed, by the steps before an out-of-memory error.
#include "tools/analyze/oom/fitting_input.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace memoir {
namespace {

constexpr std::uint64_t kKept = 50 << 20;    // bytes of what stays
constexpr std::uint64_t kPerInput = 40;      // bytes that a step needs for each of its input
constexpr std::uint64_t kUsable = 90 << 20;  // of which 95 % count: 40.6 MiB besides what stays

// Steps of a training on one device: inputs come, activations grow with them, all goes.
class Training {
 public:
  // `floor`: what the optimizer needs, whatever the inputs are.
  void Step(std::uint64_t input, std::uint64_t floor = 0) {
    Begin(input);
    growth_.NoteAllocation(BlockOf(1), false, kKept + input * kPerInput);
    growth_.NoteAllocation(BlockOf(1), false, kKept + floor);
    growth_.NoteFree(input_);
    growth_.SeeStepBegin(StepKind::kOptimizer);
  }
  void Begin(std::uint64_t input) {
    input_ = BlockOf(input);
    growth_.NoteAllocation(input_, true, kKept + input);
  }
  std::optional<FittingInput> Fit() const { return growth_.FindFit(DeviceId{0}, StepKind::kOptimizer, kUsable); }
  FittingInputFinder& growth() { return growth_; }

 private:
  Block BlockOf(std::uint64_t bytes) {
    Block block;
    block.device = DeviceId{0};
    block.bytes = bytes;
    block.ordinal = ordinal_++;
    return block;
  }
  FittingInputFinder growth_;
  Block input_;
  std::uint64_t ordinal_ = 0;
};

constexpr std::uint64_t kFitting = (kUsable * 95 / 100 - kKept) / kPerInput;

TEST(FittingInputFinder, SaysWhatWouldHaveFitted) {
  Training training;
  for (const std::uint64_t size : {9, 9, 100, 250, 300, 120, 180, 220}) training.Step(size << 10);
  training.Begin(3 << 20);
  const auto fit = training.Fit();
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->steps, 6U) << "the first two make what stays";
  EXPECT_EQ(fit->input_bytes, 3U << 20);
  EXPECT_NEAR(static_cast<double>(fit->fitting_bytes), kFitting, 2);
}

TEST(FittingInputFinder, TakesTheLargeInputsWhereTheOptimizerIsThePeakOfSmallOnes) {
  Training training;
  for (const std::uint64_t size : {9, 9, 10, 20, 30, 40, 50, 60, 300, 350, 400, 450, 500, 550})
    training.Step(size << 10, 200 * kPerInput << 10);
  training.Begin(3 << 20);
  const auto fit = training.Fit();
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->steps, 6U);
  EXPECT_NEAR(static_cast<double>(fit->fitting_bytes), kFitting, 2);
}

TEST(FittingInputFinder, SaysNothingThatItDoesNotKnow) {
  const std::vector<std::pair<const char*, std::vector<std::uint64_t>>> trainings = {
      {"inputs of one size", {100, 100, 100, 100, 100, 100, 100, 100, 100}},
      {"few steps", {9, 9, 100, 250, 300, 120}},
      {"no step", {}},
  };
  for (const auto& [why, sizes] : trainings) {
    Training training;
    for (const std::uint64_t size : sizes) training.Step(size << 10);
    training.Begin(3 << 20);
    EXPECT_FALSE(training.Fit()) << why;
  }
}

TEST(FittingInputFinder, SaysNothingWhereTheInputIsNotTooLarge) {
  Training training;
  for (const std::uint64_t size : {9, 9, 100, 250, 300, 120, 180, 220}) training.Step(size << 10);
  training.Begin(200 << 10);
  EXPECT_FALSE(training.Fit()) << "steps with more of it did fit: something else is the reason";
}

TEST(FittingInputFinder, SaysNothingOfPeaksThatAreOnNoLine) {
  Training training;
  std::uint64_t seed = 1;
  for (int i = 0; i < 40; ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    training.Step((100 + (seed >> 33) % 100) << 10, (seed >> 40) % 100 * kPerInput << 12);
  }
  training.Begin(3 << 20);
  EXPECT_FALSE(training.Fit());
}

TEST(FittingInputFinder, ForgetsAProcess) {
  Training training;
  for (const std::uint64_t size : {9, 9, 100, 250, 300, 120, 180, 220}) training.Step(size << 10);
  training.growth().Clear();
  training.Begin(3 << 20);
  EXPECT_FALSE(training.Fit());
}

}  // namespace
}  // namespace memoir
