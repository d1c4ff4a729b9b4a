// Readings of the host's memory: from the ring to the file number by number, and into keyframes.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "interpose/ring/write_record.h"
#include "tests/writer/capture_decoder.h"
#include "tests/writer/recording.h"

namespace memoir::test {
namespace {

void Write(std::uint64_t anonymous_bytes) {
  const auto cause = static_cast<std::uint8_t>(ReadingCause::kPeak);
  ASSERT_TRUE(WriteRecord<HostReadingRecord>(RecordKind::kHostReading, cause, [&](HostReadingRecord& record) {
    record.numbers.anonymous_bytes = anonymous_bytes;
    record.numbers.group_limit_bytes = kNotKnown;
    record.numbers.machine_kills = 3;
  }));
}

TEST(HostSampler, AreInTheCaptureAndItsKeyframes) {
  Recording::Options options;
  options.part_bytes = 1;
  Recording recording(options);
  ASSERT_TRUE(recording.ok()) << recording.error();
  for (const std::uint64_t anonymous : {50, 90, 40, 60}) Write(anonymous);
  recording.writer().Flush();
  Write(70);  // it makes the next part
  recording.Stop();
  const DecodedCapture capture = DecodeFolder(recording.folder());
  EXPECT_TRUE(capture.errors.empty()) << capture.errors.front();
  std::vector<std::uint64_t> numbers;
  for (const DecodedPart& part : capture.parts) {
    for (const auto& chunk : part.chunks) {
      for (const auto& run : chunk.payload.runs())
        numbers.insert(numbers.end(), run.host_reading().begin(), run.host_reading().end());
    }
  }
  ASSERT_EQ(numbers.size(), 5 * kHostNumbers);
  EXPECT_EQ(numbers[0], 51u);
  EXPECT_EQ(numbers[11], 0u) << "not known";
  EXPECT_EQ(numbers[17], 4u);
  const memoir::v1::Keyframe& keyframe = capture.parts.back().chunks.front().payload.keyframe();
  std::vector<std::uint64_t> kept;
  for (const memoir::v1::HostReading& reading : keyframe.host()) {
    kept.push_back(reading.anonymous_bytes());
    EXPECT_EQ(reading.cause(), memoir::v1::PEAK);
    EXPECT_EQ(reading.group_limit_bytes(), 0u);
    EXPECT_EQ(reading.machine_kills(), 4u);
    EXPECT_NE(reading.tick(), 0u);
  }
  EXPECT_EQ(kept, (std::vector<std::uint64_t>{51, 91, 71})) << "the first, the highest, the newest";
}

}  // namespace
}  // namespace memoir::test
