// The remedies that are printed after an out-of-memory error, and the errors without a remedy.
#include "tools/view/oom/remedy_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memoir {
namespace {

using ::testing::HasSubstr;

OutOfMemory Error(OutOfMemoryCause cause) {
  OutOfMemory error;
  error.device = "cuda:0";
  error.process = ProcessId{0};
  error.device_free = 1 << 20;
  error.room.own_free = 3 << 20;
  error.room.cause = cause;
  return error;
}

Summary WithCheckpointing(const std::string& device) {
  DeviceRow row;
  row.name = device;
  row.process = ProcessId{0};
  CheckpointRow best;
  best.name = "layers.*";
  best.modules = 12;
  best.freed_bytes = 5 << 20;
  row.checkpointing = best;
  Summary summary;
  summary.devices.push_back(row);
  return summary;
}

TEST(WhatHelps, WherePiecesAreFree) {
  const std::string text = RemedyText(Error(OutOfMemoryCause::kFragmentation), {});
  EXPECT_THAT(text, HasSubstr("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"));
  EXPECT_THAT(text, HasSubstr("4.0 MiB"));
}

TEST(WhatHelps, WhereTheProgramHasALimit) {
  EXPECT_THAT(RemedyText(Error(OutOfMemoryCause::kLimit), {}), HasSubstr("set_per_process_memory_fraction"));
}

TEST(WhatHelps, Checkpointing) {
  const std::string full = RemedyText(Error(OutOfMemoryCause::kFull), WithCheckpointing("cuda:0"));
  EXPECT_EQ(full, "checkpointing layers.* (12 modules): up to 5.0 MiB less at the peak (an estimate)");
  const std::string both = RemedyText(Error(OutOfMemoryCause::kFragmentation), WithCheckpointing("cuda:0"));
  EXPECT_THAT(both, HasSubstr("expandable_segments"));
  EXPECT_THAT(both, HasSubstr("; checkpointing layers.*"));
}

TEST(WhatHelps, BytesOfEachRemedy) {
  const std::vector<Remedy> remedies =
      RemediesOf(Error(OutOfMemoryCause::kFragmentation), WithCheckpointing("cuda:0"));
  ASSERT_EQ(remedies.size(), 2U);
  EXPECT_EQ(remedies[0].bytes, 4U << 20);  // free in torch's segments and on the device
  EXPECT_EQ(remedies[1].bytes, 5U << 20);
  OutOfMemory error = Error(OutOfMemoryCause::kFull);
  error.fitting_input = FittingInput{12, 6 << 20, 4 << 20};
  EXPECT_EQ(RemediesOf(error, {}).front().bytes, std::nullopt);
}

TEST(WhatHelps, AForwardThatHadNotEnded) {
  Summary summary = WithCheckpointing("cuda:0");
  summary.devices.front().checkpointing->cut_off = true;
  OutOfMemory error = Error(OutOfMemoryCause::kFragmentation);
  error.phase = Phase::kForward;
  error.reserved_bytes = 2000 << 20;
  error.room.own_free = 299 << 20;
  error.asked_bytes = 100 << 20;
  EXPECT_EQ(RemedyText(error, summary),
            "checkpointing layers.* (12 modules called so far): 5.0 MiB less by then (an estimate; the forward had not "
            "ended); "
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, which makes one piece of free memory (300.0 MiB): it "
            "leaves 200.0 MiB for the rest of the step");
}

TEST(WhatHelps, ASmallerBatch) {
  OutOfMemory error = Error(OutOfMemoryCause::kFull);
  error.allocated_bytes = 8 << 20;
  error.by_category = {{"activation", 6 << 20, 1}, {"parameter", 2 << 20, 1}};
  EXPECT_EQ(RemedyText(error, {}), "a smaller batch, if activations (6.0 MiB) grow with it: memoir fit --vary");
  error.batch_bytes = 5 << 20;
  EXPECT_EQ(RemedyText(error, {}), "a smaller batch (5.0 MiB grow with it): memoir fit --vary");
  error.fitting_input = FittingInput{12, 6 << 20, 4 << 20};
  EXPECT_EQ(RemedyText(error, {}),
            "a smaller batch: inputs of about 4.0 MiB would fit, these had 6.0 MiB (an estimate from 12 steps)");
}

// For example a cache of keys and values, which is as large as the device allows.
TEST(WhatHelps, InputsThatWereNotSeenToGrowAreNoBatch) {
  OutOfMemory error = Error(OutOfMemoryCause::kFull);
  error.allocated_bytes = 100 << 20;
  error.by_category = {{"input", 90 << 20, 64}, {"parameter", 10 << 20, 1}};
  EXPECT_EQ(RemedyText(error, {}), "");
}

TEST(WhatHelps, WithoutASecondCopyOfTheParameters) {
  OutOfMemory error = Error(OutOfMemoryCause::kFull);
  RuleNumber copy = 0;
  while (!IsSecondCopy(copy)) ++copy;
  error.by_line.push_back({{"/src/me/serve.py", "load", 59}, "", copy, 1200 << 20, 64});
  EXPECT_EQ(RemedyText(error, {}), "without a second copy of the parameters, 1.17 GiB, made at serve.py:59");
}

// In a forward pass, the next layer requests as many bytes again.
TEST(WhatHelps, ASettingThatLeavesNothingIsNone) {
  OutOfMemory error = Error(OutOfMemoryCause::kFragmentation);
  error.phase = Phase::kForward;
  error.asked_bytes = 3 << 20;
  error.reserved_bytes = 60 << 20;
  EXPECT_EQ(RemedyText(error, {}), "");
  error.phase = Phase::kBackward;
  EXPECT_THAT(RemedyText(error, {}), HasSubstr("expandable_segments"));
}

// Other processes fill the device, and torch has reserved so little that 1 MiB is a real share of it.
TEST(WhatHelps, ASettingThatLeavesLessThanAPageIsNone) {
  OutOfMemory error = Error(OutOfMemoryCause::kFragmentation);
  error.phase = Phase::kForward;
  error.asked_bytes = 3 << 20;
  error.reserved_bytes = 20 << 20;
  EXPECT_EQ(RemedyText(error, {}), "") << "1.0 MiB would be left";
  error.reserved_bytes = 40 << 20;
  error.room.own_free = 22 << 20;
  EXPECT_THAT(RemedyText(error, {}), HasSubstr("it leaves 20.0 MiB for the rest of the step"));
  error.asked_bytes += 512;
  EXPECT_EQ(RemedyText(error, {}), "");
}

TEST(WhatHelps, ALeakFirstWhereItIsWhy) {
  OutOfMemory error = Error(OutOfMemoryCause::kFragmentation);
  error.asked_bytes = 2 << 20;
  error.allocated_bytes = 100 << 20;
  error.fitting_input = FittingInput{9, 2 << 20, 1 << 20};
  error.leaking = LeakTotals{1, 50 << 20, 5 << 20, 3, {}, "aten::add"};
  EXPECT_EQ(RemedyText(error, WithCheckpointing("cuda:0")),
            "fix the leak at aten::add: 50.0 MiB so far, 5.0 MiB more in every step (memoir check leaks); "
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, which makes one piece of free memory (4.0 MiB)");
  error.leaking->bytes = 5 << 20;
  EXPECT_THAT(RemedyText(error, {}), testing::MatchesRegex("PYTORCH.*; a smaller batch: .*; fix the leak at .*"));
}

TEST(WhatHelps, CheckpointingOfThePeakOnlyAtThePeak) {
  Summary summary = WithCheckpointing("cuda:0");
  summary.devices.front().peak_allocated_bytes = 100 << 20;
  OutOfMemory error = Error(OutOfMemoryCause::kFull);
  error.allocated_bytes = 50 << 20;
  EXPECT_EQ(RemedyText(error, summary), "") << "an earlier error, of another moment";
  error.asked_bytes = 45 << 20;
  EXPECT_THAT(RemedyText(error, summary), HasSubstr("checkpointing layers.*"));
}

TEST(WhatHelps, NothingThatIsNotKnown) {
  EXPECT_EQ(RemedyText(Error(OutOfMemoryCause::kFull), {}), "");
  EXPECT_EQ(RemedyText(Error(OutOfMemoryCause::kFull), WithCheckpointing("cuda:1")), "") << "another device";
  OutOfMemory refused = Error(OutOfMemoryCause::kFragmentation);
  refused.refusal.emplace();
  EXPECT_EQ(RemedyText(refused, {}), "") << "another library's request: torch's setting is no help";
  refused.refusal->of_host = true;
  EXPECT_EQ(RemedyText(refused, WithCheckpointing("cuda:0")), "") << "host memory";
}

}  // namespace
}  // namespace memoir
