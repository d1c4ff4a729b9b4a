// Pauses and resumes through the writer: the events on disk, and the contents of keyframes afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "interpose/system/tick.h"
#include "tests/writer/capture_decoder.h"
#include "tests/writer/recording.h"
#include "tests/writer/ring_producer.h"
#include "tracker/writer/events/event_kinds.h"

namespace memoir::test {
namespace {

class Switches : public ::testing::Test {
 protected:
  Event Made(EventKind kind) {
    Event event;
    event.kind = static_cast<int>(kind);
    event.tick = Tick();
    return event;
  }
  void Block(EventKind kind, std::uint64_t address, std::uint64_t bytes) {
    Event event = Made(kind);
    event.address = address;
    event.serial = ++serial_;
    event.bytes = bytes;
    Put(event);
  }
  void Switch(RecordingLevel before, RecordingLevel after) {
    Event event = Made(after < before ? EventKind::kPause : EventKind::kResume);
    event.level = SwitchFlags(after, before);
    Put(event);
  }
  void Put(const Event& event) {
    ASSERT_TRUE(producer_.Record(event));
    recorded_.push_back(event);
  }
  // Parts are small, so there are many keyframes: the last one comes after all of this.
  memoir::v1::Keyframe LastKeyframe() {
    recording_.Stop();
    const DecodedCapture capture = DecodeFolder(recording_.folder());
    EXPECT_THAT(capture.errors, testing::IsEmpty());
    memoir::v1::Keyframe last;
    for (const DecodedChunk* chunk : capture.chunks()) {
      if (chunk->payload.has_keyframe()) last = chunk->payload.keyframe();
    }
    return last;
  }
  // Until a part is full and another begins, with a keyframe.
  void FillAPart() {
    for (int chunk = 0; chunk < 40; ++chunk) {
      for (std::uint64_t i = 0; i < 500; ++i) {
        Event mark = Made(EventKind::kMark);
        mark.name = "mark " + std::to_string(chunk) + "." + std::to_string(i) + std::string(100, 'x');
        ASSERT_TRUE(producer_.Record(mark));
      }
      recording_.writer().Flush();
    }
  }

  Recording recording_{
      Recording::Options{.capture = "", .ring_bytes = kMinRingBytes, .max_bytes = 0, .part_bytes = 4096}};
  RingProducer producer_;
  std::uint64_t serial_ = 0;
  std::vector<Event> recorded_;
};

TEST_F(Switches, AreOnFileInTheirPlaces) {
  ASSERT_TRUE(recording_.ok()) << recording_.error();
  Block(EventKind::kAllocate, 0x1000, 64);
  Switch(RecordingLevel::kAll, RecordingLevel::kOff);
  Switch(RecordingLevel::kOff, RecordingLevel::kMemory);
  Block(EventKind::kDeallocate, 0x1000, 0);
  Switch(RecordingLevel::kMemory, RecordingLevel::kAll);
  recording_.Stop();
  const DecodedCapture capture = DecodeFolder(recording_.folder());
  EXPECT_THAT(capture.errors, testing::IsEmpty());
  const auto threads = capture.EventsByThread();
  ASSERT_EQ(threads.size(), 1u);
  EXPECT_EQ(threads.begin()->second, recorded_);
}

TEST_F(Switches, AKeyframeForgetsBlocksFromBeforeAResumeFromOff) {
  ASSERT_TRUE(recording_.ok()) << recording_.error();
  Block(EventKind::kAllocate, 0x1000, 64);
  Switch(RecordingLevel::kAll, RecordingLevel::kOff);
  Switch(RecordingLevel::kOff, RecordingLevel::kAll);
  Block(EventKind::kAllocate, 0x2000, 128);
  FillAPart();
  const memoir::v1::Keyframe keyframe = LastKeyframe();
  EXPECT_THAT(keyframe.live().bytes(), testing::ElementsAre(128u));
  ASSERT_EQ(keyframe.devices_size(), 1);
  EXPECT_EQ(keyframe.devices(0).live_bytes(), 128u);
  EXPECT_EQ(keyframe.devices(0).deallocations(), 0u);
  EXPECT_FALSE(keyframe.ranges_off());
  EXPECT_FALSE(keyframe.memory_off());
}

TEST_F(Switches, AKeyframeSaysHowLittleIsRecordedAndKeepsWhatMemoryAloneFollows) {
  ASSERT_TRUE(recording_.ok()) << recording_.error();
  Block(EventKind::kAllocate, 0x1000, 64);
  Event range = Made(EventKind::kRangeBeginUser);
  range.name = "open";
  ASSERT_TRUE(producer_.Record(range));
  Switch(RecordingLevel::kAll, RecordingLevel::kMemory);
  FillAPart();
  const memoir::v1::Keyframe keyframe = LastKeyframe();
  EXPECT_THAT(keyframe.live().bytes(), testing::ElementsAre(64u));
  EXPECT_EQ(keyframe.open_size(), 0);
  EXPECT_TRUE(keyframe.ranges_off());
  EXPECT_FALSE(keyframe.memory_off());
}

}  // namespace
}  // namespace memoir::test
