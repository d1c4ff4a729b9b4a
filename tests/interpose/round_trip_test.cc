#include <cerrno>

#include "interpose/ring/process_ring.h"
#include "tests/interpose/numbered_records.h"

namespace memoir {
namespace {

using RoundTripTest = RingTest;

TEST_F(RoundTripTest, RecordsOfOneThreadComeOutInOrderOverManySegments) {
  Open(kMinRingBytes);
  for (std::uint64_t number = 0; number < 20'000; ++number) ASSERT_TRUE(HookNumber(number));
  Collected collected;
  EXPECT_GT(collected.Drain(reader_.get()), 20u);
  EXPECT_EQ(collected.total(), 20'000u);
  EXPECT_EQ(collected.Drain(reader_.get()), 0u);
}

TEST_F(RoundTripTest, NothingIsRecordedWhileOffAndNothingCountsAsLost) {
  ASSERT_EQ(OpenRingIn(folder_.path(), kMinRingBytes), "");
  EXPECT_EQ(RingAttachThread(), nullptr);
  EXPECT_FALSE(HookNumber(0));
  EXPECT_EQ(RingReadCounters().dropped_records, 0u);
}

TEST_F(RoundTripTest, PartOfASegmentIsConsumedAndTheRestComesAgain) {
  Open(kMinRingBytes);
  for (std::uint64_t number = 0; number < 1'000; ++number) ASSERT_TRUE(HookNumber(number));
  RingExtentView view;
  ASSERT_EQ(reader_->Scan(&view, 1), 1u);
  ASSERT_TRUE(view.full);
  reader_->Consume(view, view.begin + 10 * kNumberBytes, 10);
  reader_->ReleaseConsumed();  // must not free what is only half read
  RingExtentView rest;
  ASSERT_EQ(reader_->Scan(&rest, 1), 1u);
  EXPECT_EQ(rest.segment, view.segment);
  EXPECT_EQ(rest.first_record, 10u);
  EXPECT_EQ(rest.begin, view.begin + 10 * kNumberBytes);
  EXPECT_EQ(rest.end, view.end);
}

TEST_F(RoundTripTest, ASegmentStillOwnedGoesOnWhereTheReaderStopped) {
  Open(kMinRingBytes);
  Collected collected;
  for (std::uint64_t number = 0; number < 100; ++number) {
    ASSERT_TRUE(HookNumber(number));
    ASSERT_EQ(collected.Drain(reader_.get()), 1u);
  }
  EXPECT_EQ(collected.total(), 100u);
}

TEST_F(RoundTripTest, ASecondReaderGoesOnWhereTheFirstStopped) {
  Open(kMinRingBytes);
  for (std::uint64_t number = 0; number < 1'000; ++number) ASSERT_TRUE(HookNumber(number));
  Collected collected;
  collected.Drain(reader_.get());
  reader_.reset(RingReader::OpenLive());
  EXPECT_EQ(collected.Drain(reader_.get()), 0u);
  for (std::uint64_t number = 1'000; number < 2'000; ++number) ASSERT_TRUE(HookNumber(number));
  collected.Drain(reader_.get());
  EXPECT_EQ(collected.total(), 2'000u);
}

TEST_F(RoundTripTest, ScanWithLittleRoomYieldsTheOldestOfEachThread) {
  Open(kMinRingBytes);
  for (std::uint64_t number = 0; number < 5'000; ++number) ASSERT_TRUE(HookNumber(number));
  Collected collected;
  RingExtentView view;
  while (reader_->Scan(&view, 1) == 1) reader_->Consume(view, view.end, collected.Take(view, false));
  EXPECT_EQ(collected.total(), 5'000u);
}

TEST_F(RoundTripTest, LongestRecordFitsAndALongerOneIsDroppedAndLeavesAGap) {
  Open(kMinRingBytes);
  ThreadSlot* slot = RingThread();
  ASSERT_TRUE(PutNumber(slot, 0, OnEmptyPool::kDrop, kMaxRecordBytes));
  EXPECT_EQ(RingReserve(slot, kSegmentBytes + 8, OnEmptyPool::kDrop), nullptr);
  EXPECT_EQ(RingReadCounters().dropped_records, 1u);
  ASSERT_TRUE(PutNumber(slot, 2, OnEmptyPool::kDrop));
  RingExtentView views[3];
  ASSERT_EQ(reader_->Scan(views, 3), 2u);
  EXPECT_EQ(views[0].end - views[0].begin, static_cast<std::ptrdiff_t>(kMaxRecordBytes));
  EXPECT_TRUE(views[0].full);
  EXPECT_EQ(views[1].first_record, 2u);
}

TEST_F(RoundTripTest, NamesComeBackWithSchemaAndArguments) {
  Open(kMinRingBytes);
  const std::uint8_t written[] = {1, 0, 1};
  EXPECT_EQ(RingDefineOperator("aten::add_.Tensor", "(Tensor(a!) self, ...)", written, 3), 1u);
  EXPECT_EQ(RingDefineOperator("noschema", nullptr, nullptr, 0), 2u);
  NameView name;
  ASSERT_TRUE(reader_->FindName(1, &name));
  EXPECT_EQ(std::string(name.text, name.text_bytes), "aten::add_.Tensor");
  EXPECT_EQ(std::string(name.schema, name.schema_bytes), "(Tensor(a!) self, ...)");
  ASSERT_EQ(name.arguments, 3u);
  EXPECT_EQ(std::memcmp(name.written, written, 3), 0);
  ASSERT_TRUE(reader_->FindName(2, &name));
  EXPECT_EQ(name.schema_bytes, 0u);
  EXPECT_FALSE(reader_->FindName(0, &name));
  EXPECT_FALSE(reader_->FindName(3, &name));
}

TEST_F(RoundTripTest, AFullNameTableSaysSoAndKeepsWhatItHas) {
  Open(kMinRingBytes);
  const std::string schema(100'000, 's');
  std::uint32_t defined = 0;
  while (RingDefineOperator(("op" + std::to_string(defined)).c_str(), schema.c_str(), nullptr, 0) != 0) ++defined;
  EXPECT_EQ(defined, kNameArenaBytes / 100'000);
  NameView name;
  ASSERT_TRUE(reader_->FindName(defined, &name));
  EXPECT_EQ(std::string(name.text, name.text_bytes), "op" + std::to_string(defined - 1));
}

TEST_F(RoundTripTest, ProcessInfoAndClockAreTheNewest) {
  Open(kMinRingBytes);
  std::size_t size = 1;
  reader_->process_info(&size);
  EXPECT_EQ(size, 0u);
  for (const std::string text : {"rank unknown", "rank 3", "rank 3 of 8"}) {
    RingSetProcessInfo(text.data(), text.size());
    const auto* info = static_cast<const char*>(reader_->process_info(&size));
    EXPECT_EQ(std::string(info, size), text);
  }
  RingSetProcessInfo(std::string(4001, 'x').data(), 4001);  // too long: the last good one stays
  reader_->process_info(&size);
  EXPECT_EQ(size, 11u);
  for (std::uint64_t tick = 1; tick < 4; ++tick) {
    reader_->set_last_clock({tick, tick * 10, tick * 100});
    EXPECT_EQ(reader_->last_clock().realtime_ns, tick * 100);
  }
  EXPECT_STREQ(reader_->capture_folder(), "/captures/here");
  EXPECT_STREQ(reader_->file_stem(), "r00000.a0.host.1");
}

TEST_F(RoundTripTest, ErrnoIsKept) {
  Open(kMinRingBytes);
  ring_state.max_wait_ns = 1'000'000;
  errno = 1234;
  for (std::uint64_t number = 0; number < 50'000; ++number) HookNumber(number);  // attach, swaps, one stall, drops
  RingDefineOperator("a", "b", nullptr, 0);
  RingCountDroppedAllocation(1);
  EXPECT_EQ(errno, 1234);
  EXPECT_GT(RingReadCounters().dropped_records, 0u);
  ring_state.max_wait_ns = 5'000'000'000;
}

TEST_F(RoundTripTest, ADroppedRecordIsCountedAndKeepsItsIndex) {
  Open(kMinRingBytes);
  ASSERT_TRUE(HookNumber(0));
  RingDropRecord(RingThread());
  ASSERT_TRUE(HookNumber(2));
  EXPECT_EQ(RingThread()->next_record, 3u);
  EXPECT_EQ(RingReadCounters().dropped_records, 1u);
  RingExtentView view;
  ASSERT_EQ(reader_->Scan(&view, 1), 1u);  // one segment: nothing of it was given up
  std::vector<RecordKind> kinds;
  for (const std::uint8_t* at = view.begin; at < view.end; at += RingReader::RecordBytes(at, view.end)) {
    kinds.push_back(reinterpret_cast<const RecordHeader*>(at)->kind);
  }
  EXPECT_EQ(kinds, (std::vector{RecordKind::kAllocate, RecordKind::kDropped, RecordKind::kAllocate}));
}

// Where there is no room for the note of it either.
TEST_F(RoundTripTest, ADroppedRecordOfAFullRingIsCountedOnce) {
  Open(kMinRingBytes);
  std::uint64_t kept = 0;
  while (HookNumber(kept, OnEmptyPool::kDrop)) ++kept;
  RingDropRecord(RingThread());
  EXPECT_EQ(RingReadCounters().dropped_records, 2u);
  EXPECT_EQ(RingThread()->next_record, kept + 2);
}

}  // namespace
}  // namespace memoir
