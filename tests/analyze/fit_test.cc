// The combined result of runs on simulated devices.
#include "tools/analyze/fit/fit.h"

#include "gtest/gtest.h"

namespace memoir {
namespace {

SimulatedDevice Device(std::uint64_t peak, std::uint64_t refused = 0, std::uint64_t ordinal = 0) {
  SimulatedDevice device;
  device.ordinal = ordinal;
  device.total = 1000;
  device.context = 100;
  device.peak = peak;
  device.refused = refused;
  device.refusals = refused > 0 ? 2 : 0;
  return device;
}

FitRun Ended(int exit_code, std::vector<SimulatedDevice> devices) {
  FitRun run;
  run.exit_code = exit_code;
  std::uint64_t pid = 10;
  for (const SimulatedDevice& device : devices) run.processes.push_back({pid++, {device}});
  return run;
}

FitAttempt Try(FitRun run) { return {std::move(run), std::nullopt}; }

TEST(FitVerdictOf, OneRun) {
  EXPECT_EQ(VerdictOf(Ended(0, {Device(700)})), FitVerdict::kFits);
  EXPECT_EQ(VerdictOf(Ended(1, {Device(900, 200)})), FitVerdict::kDoesNotFit);
  EXPECT_EQ(VerdictOf(Ended(1, {Device(900)})), FitVerdict::kFailed);
  EXPECT_EQ(VerdictOf(Ended(1, {})), FitVerdict::kFailed);
  EXPECT_EQ(VerdictOf(Ended(0, {Device(900, 200)})), FitVerdict::kWentOn);
  EXPECT_EQ(VerdictOf(Ended(0, {})), FitVerdict::kUnused);
  EXPECT_EQ(VerdictOf(Ended(0, {Device(100)})), FitVerdict::kUnused);
}

TEST(FitVerdictOf, ARetryThatFoundRoomIsNoEnd) {
  SimulatedDevice device = Device(1000);
  device.refusals = 3;
  EXPECT_EQ(VerdictOf(Ended(0, {device})), FitVerdict::kFits);
  EXPECT_EQ(VerdictOf(Ended(1, {device})), FitVerdict::kFailed);
}

TEST(FitVerdictOf, ARecordedErrorIsOneWithoutARefusal) {
  FitRun run = Ended(1, {Device(500)});  // torch.cuda.set_per_process_memory_fraction refuses by itself
  run.recording.emplace().out_of_memory = {"aten::mm", "head", Phase::kForward, 600};
  EXPECT_EQ(VerdictOf(run), FitVerdict::kDoesNotFit);
}

TEST(FitDevice, TheOneThatRanOutDecidesElseTheGreatest) {
  EXPECT_EQ(DecidingDeviceOf(Ended(0, {Device(300), Device(700), Device(500)}))->pid, 11u);
  EXPECT_EQ(DecidingDeviceOf(Ended(1, {Device(300, 900), Device(700)}))->pid, 10u);
  EXPECT_FALSE(DecidingDeviceOf(Ended(0, {})));
}

TEST(FitNeed, IsThatOfARunThatEndedWell) {
  FitAttempt attempt = Try(Ended(1, {Device(900, 300)}));
  EXPECT_FALSE(NeedOf(attempt));
  attempt.unlimited = Ended(0, {Device(1500), Device(1400)});
  EXPECT_EQ(NeedOf(attempt), 1500u);
  attempt.unlimited = Ended(1, {Device(1500)});
  EXPECT_FALSE(NeedOf(attempt));
}

TEST(FitCardVerdict, TwoAssumptionsMayDisagree) {
  FitCard card;
  card.memory = 1000;
  card.low = Try(Ended(0, {Device(700)}));
  EXPECT_EQ(VerdictOf(card), FitVerdict::kFits);
  EXPECT_TRUE(NeedOf(card)->is_point());
  card.high = Try(Ended(1, {Device(900, 300)}));
  card.high->unlimited = Ended(0, {Device(1500)});
  EXPECT_EQ(VerdictOf(card), FitVerdict::kDepends);
  EXPECT_EQ(NeedOf(card)->low, 700u);
  EXPECT_EQ(NeedOf(card)->high, 1500u);
  card.high->unlimited.reset();
  EXPECT_FALSE(NeedOf(card));                // half an interval would be read as a point
  card.high = Try(Ended(1, {Device(900)}));  // for another reason: the most that it may need is not known
  EXPECT_EQ(VerdictOf(card), FitVerdict::kDepends);
}

TEST(FitCardVerdict, AFailureWithTheLeastIsNoneWhereTheMostEndsWell) {
  FitCard card;
  card.memory = 1000;
  card.low = Try(Ended(1, {Device(300)}));
  card.high = Try(Ended(0, {Device(800)}));
  EXPECT_EQ(VerdictOf(card), FitVerdict::kFits);
  EXPECT_EQ(NeedOf(card)->low, 0u);
  EXPECT_EQ(NeedOf(card)->high, 800u);
  EXPECT_EQ(LeadingRun(card).exit_code, 0);
  card.high = Try(Ended(1, {Device(400)}));
  EXPECT_EQ(VerdictOf(card), FitVerdict::kFailed);
  EXPECT_EQ(LeadingRun(card).exit_code, 1);
}

TEST(FitVerdictOf, WhoWasInterruptedHasNone) {
  FitRun run = Ended(130, {Device(900, 200)});
  run.interrupted = true;
  EXPECT_EQ(VerdictOf(run), FitVerdict::kInterrupted);
  FitCard card;
  card.low = Try(run);
  EXPECT_FALSE(NeedOf(card));
}

TEST(FitSharing, NeedsOfOneCardMayAddUp) {
  FitCard card;
  card.memory = 1000;
  card.low = Try(Ended(0, {Device(700), Device(600)}));
  EXPECT_EQ(VerdictOf(card), FitVerdict::kDepends);
  EXPECT_EQ(NeedOf(card)->low, 700u);
  EXPECT_EQ(NeedOf(card)->high, 1300u);
  card.memory = 1300;
  EXPECT_EQ(VerdictOf(card), FitVerdict::kFits);
  SimulatedDevice other = Device(600);
  other.card = 4;  // one card for each process, which each calls its first
  card.low = Try(Ended(0, {Device(700), other}));
  EXPECT_TRUE(NeedOf(card)->is_point());
}

TEST(FitSharing, TwoProcessesOnOneDevice) {
  EXPECT_TRUE(SharesADevice(Ended(0, {Device(700), Device(600)})));
  EXPECT_FALSE(SharesADevice(Ended(0, {Device(700), Device(600, 0, 1)})));
  EXPECT_FALSE(SharesADevice(Ended(0, {Device(700), Device(100)})));
}

}  // namespace
}  // namespace memoir
