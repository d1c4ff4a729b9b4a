// The two words that hooks read: the hooks on at each level, and the effect of a switch on open ranges.
#include <gtest/gtest.h>

#include "tests/interpose/numbered_records.h"

namespace memoir {
namespace {

class LevelTest : public RingTest {};

TEST_F(LevelTest, MemoryComesBeforeRanges) {
  Open(kMinRingBytes);
  EXPECT_TRUE(RecordingEnabled());
  EXPECT_NE(RangeEpoch(), 0u);
  SetRecordingLevel(RecordingLevel::kMemory);
  EXPECT_TRUE(RecordingEnabled());
  EXPECT_EQ(RangeEpoch(), 0u);
  SetRecordingLevel(RecordingLevel::kOff);
  EXPECT_FALSE(RecordingEnabled());
  EXPECT_EQ(RangeEpoch(), 0u);
}

TEST_F(LevelTest, RangesThatWereOpenCountNoMoreOnceTheyWereOff) {
  Open(kMinRingBytes);
  ThreadSlot* slot = RingThread();
  ASSERT_NE(slot, nullptr);
  const std::uint32_t epoch = RangeEpoch();
  slot->range_epoch = epoch;
  slot->depth = 3;
  EXPECT_EQ(RingDepth(slot), 3);
  SetRecordingLevel(RecordingLevel::kAll);  // as it is
  EXPECT_EQ(RangeEpoch(), epoch);
  SetRecordingLevel(RecordingLevel::kMemory);
  EXPECT_EQ(RingDepth(slot), 0);
  SetRecordingLevel(RecordingLevel::kAll);
  EXPECT_NE(RangeEpoch(), epoch);
  EXPECT_EQ(RingDepth(slot), 0);
  EXPECT_EQ(RingThread(), slot);
}

TEST_F(LevelTest, WithoutARingNothingIsSwitchedOn) {
  SetRecordingLevel(RecordingLevel::kAll);
  EXPECT_FALSE(RecordingEnabled());
  EXPECT_EQ(RangeEpoch(), 0u);
}

}  // namespace
}  // namespace memoir
