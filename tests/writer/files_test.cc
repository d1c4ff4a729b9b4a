// The files of a recording: their permissions, and the message if they are removed meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "interpose/system/tick.h"
#include "tests/writer/capture_decoder.h"
#include "tests/writer/recording.h"
#include "tests/writer/ring_producer.h"
#include "tests/writer/step_stream.h"

namespace memoir::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::uint64_t RecordOperators(int operators, StepStream* stream, RingProducer* producer) {
  std::uint64_t events = 0;
  for (int i = 0; i < operators; ++i) {
    for (Event& event : stream->NextOperator()) {
      event.tick = Tick();
      EXPECT_TRUE(producer->Record(event));
      ++events;
    }
  }
  return events;
}

// Others may not read what a program is and does; and its owner may, whatever the umask.
TEST(Files, WhatIsMadeIsForItsOwnerAlone) {
  const auto mode = [](const std::string& path) { return std::filesystem::status(path).permissions(); };
  using std::filesystem::perms;
  for (const mode_t mask : {0, 022, 0777}) {
    const TemporaryFolder folder;
    const mode_t before = umask(mask);
    {
      Recording recording({.capture = folder.path() + "/a/b/c"});
      umask(before);
      ASSERT_TRUE(recording.ok()) << recording.error();
      EXPECT_EQ(mode(RingPath()), perms::owner_read | perms::owner_write);
    }
    for (const char* made : {"/a", "/a/b", "/a/b/c"}) EXPECT_EQ(mode(folder.path() + made), perms::owner_all) << mask;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path() + "/a/b/c"))
      EXPECT_EQ(mode(entry.path()), perms::owner_read | perms::owner_write) << mask;
  }
}

// Events wait in the ring, where a death leaves them, until the recording is followed.
TEST(Files, WhatNobodyFollowsIsWrittenLessOften) {
  using std::chrono::steady_clock, std::chrono::seconds;
  std::atomic<bool> followed{false};
  std::atomic<int> asked{0};
  Recording recording({.capture = "", .is_followed = [&] {
                         ++asked;
                         return followed.load();
                       }});
  ASSERT_TRUE(recording.ok()) << recording.error();
  const auto wait = [](const auto& is_done) {
    for (const auto until = steady_clock::now() + seconds(30); !is_done() && steady_clock::now() < until;)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return is_done();
  };
  StepStream stream;
  RingProducer producer;
  std::uint64_t events = RecordOperators(1, &stream, &producer);
  recording.writer().Flush();
  const auto begin = steady_clock::now();
  const auto written = [&] { return recording.writer().Status().events; };
  events += RecordOperators(1, &stream, &producer);
  ASSERT_TRUE(wait([&] { return asked > 0; })) << "it is a second old";
  // If the machine was suspended, the timing cannot be checked.
  const std::uint64_t now = written();
  if (steady_clock::now() - begin < seconds(3)) {
    EXPECT_LT(now, events);
  }
  followed = true;
  EXPECT_TRUE(wait([&] { return written() == events; }));
}

// Only sums are left of the recorded events; later events have a part.
TEST(Files, APartThatIsRemovedIsFollowedByAnother) {
  Recording recording;
  ASSERT_TRUE(recording.ok()) << recording.error();
  StepStream stream;
  RingProducer producer;
  const std::uint64_t removed = RecordOperators(100, &stream, &producer);
  recording.writer().Flush();
  EXPECT_EQ(recording.writer().Status().events, removed);
  const std::string part = recording.writer().Status().part;
  ASSERT_TRUE(std::filesystem::remove(part));
  const std::uint64_t kept = RecordOperators(50, &stream, &producer);
  recording.Stop();
  EXPECT_EQ(recording.status().events, kept);
  EXPECT_EQ(recording.status().lost_events, removed);
  EXPECT_EQ(recording.status().last_write_error, part + " was removed while it was written");
  const DecodedCapture capture = DecodeFolder(recording.folder());
  EXPECT_THAT(capture.errors, IsEmpty());
  EXPECT_EQ(capture.events(), kept);
  EXPECT_EQ(capture.counters().lost_events(), removed);
  EXPECT_EQ(capture.parts.front().chunks.front().payload.keyframe().events_before(), removed);
}

TEST(Files, ARemovedFolderIsNamedAndNotMadeAgain) {
  Recording recording;
  ASSERT_TRUE(recording.ok()) << recording.error();
  StepStream stream;
  RingProducer producer;
  std::uint64_t recorded = RecordOperators(100, &stream, &producer);
  recording.writer().Flush();
  std::filesystem::remove_all(recording.folder());
  recorded += RecordOperators(50, &stream, &producer);
  recording.Stop();
  EXPECT_EQ(recording.status().lost_events, recorded);
  EXPECT_EQ(recording.status().events, 0u);
  EXPECT_THAT(recording.status().last_write_error, HasSubstr(".memoir: its folder was removed during the recording"));
  EXPECT_FALSE(std::filesystem::exists(recording.folder()));
}

// Gives up root's rights and takes them again, as a program may that was started by root.
class AsNobody {
 public:
  AsNobody() { EXPECT_EQ(seteuid(65534), 0); }
  ~AsNobody() { EXPECT_EQ(seteuid(0), 0); }
};

TEST(Files, APartGrowsOnWhereNoOtherMayBeMade) {
  if (geteuid() != 0) GTEST_SKIP() << "giving up rights takes root";
  Recording recording({.capture = "", .part_bytes = 20'000});
  ASSERT_TRUE(recording.ok()) << recording.error();
  StepStream stream;
  RingProducer producer;
  std::uint64_t recorded = 0;
  {
    const AsNobody nobody;
    for (int i = 0; i < 10; ++i) {
      recorded += RecordOperators(1000, &stream, &producer);
      recording.writer().Flush();
    }
    SetRecordingEnabled(false);
    recording.writer().Stop(EndReason::kStopped, "");
  }
  recording.Stop();
  EXPECT_EQ(recording.status().events, recorded);
  const DecodedCapture capture = DecodeFolder(recording.folder());
  EXPECT_THAT(capture.errors, IsEmpty());
  EXPECT_EQ(capture.parts.size(), 1u);
  EXPECT_EQ(capture.events(), recorded);
  EXPECT_EQ(capture.end().reason(), memoir::v1::End::STOPPED);
  EXPECT_TRUE(capture.parts.back().has_index);
}

TEST(Files, ItGrowsNoFurtherThanTheCap) {
  if (geteuid() != 0) GTEST_SKIP() << "giving up rights takes root";
  Recording recording({.capture = "", .max_bytes = 80'000});
  ASSERT_TRUE(recording.ok()) << recording.error();
  StepStream stream;
  RingProducer producer;
  std::uint64_t recorded = 0;
  {
    const AsNobody nobody;
    for (int i = 0; i < 20; ++i) {
      recorded += RecordOperators(1000, &stream, &producer);
      recording.writer().Flush();
    }
    SetRecordingEnabled(false);
    recording.writer().Stop(EndReason::kStopped, "");
  }
  recording.Stop();
  const DecodedCapture capture = DecodeFolder(recording.folder());
  EXPECT_THAT(capture.errors, IsEmpty());
  ASSERT_EQ(capture.parts.size(), 1u);
  EXPECT_LT(capture.parts.front().file_bytes, 120'000u);
  EXPECT_GT(capture.counters().lost_events(), 0u);
  EXPECT_EQ(capture.events() + capture.counters().lost_events(), recorded);
  EXPECT_THAT(capture.counters().last_write_error(), HasSubstr("Permission denied"));
  EXPECT_EQ(capture.end().reason(), memoir::v1::End::STOPPED);
}

}  // namespace
}  // namespace memoir::test
