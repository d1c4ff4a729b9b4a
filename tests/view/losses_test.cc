// Lines about missing data: no two may contradict each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/summary/summary.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::ProcessBuilder;

std::string Losses(ProcessBuilder& process) {
  const testing::TemporaryFolder folder;
  process.WriteTo(folder.path());
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  EXPECT_TRUE(capture.ok()) << capture.status();
  const auto summary = AnalyzeSummary(*capture, {});
  EXPECT_TRUE(summary.ok()) << summary.status();
  return RenderLosses(*capture, summary->report, {.width = 200});
}

TEST(Losses, AMergedProcessIsWholeWhereNothingIsMissing) {
  ProcessBuilder process;
  process.Allocate(0x1000, 10).EndChunk().Deallocate(0x1000).set_end(v1::End::MERGED);
  EXPECT_THAT(Losses(process),
              HasSubstr("ended without stopping (killed, os._exit or exec); all events until then are in the capture"));
}

TEST(Losses, AnExceptionThatEndedTheProgramIsSaidAndLosesNothing) {
  ProcessBuilder process;
  process.Allocate(0x1000, 10).set_end(v1::End::EXITED, "RuntimeError: a\nb\x1b[31m");
  EXPECT_THAT(Losses(process), HasSubstr("ended by an uncaught RuntimeError: a"));
  EXPECT_THAT(Losses(process), Not(HasSubstr("\x1b")));
  EXPECT_THAT(Losses(process), HasSubstr("0 events dropped"));
  ProcessBuilder quiet;
  quiet.Allocate(0x1000, 10).set_end(v1::End::EXITED);
  EXPECT_THAT(Losses(quiet), Not(HasSubstr("uncaught")));
}

TEST(Losses, AMergedProcessIsNotSaidToBeWholeBesideWhatIsMissing) {
  ProcessBuilder records;
  records.Allocate(0x1000, 10).LoseRecords(3);
  records.Mark("m").set_end(v1::End::MERGED);
  EXPECT_THAT(Losses(records), HasSubstr("3 records are missing in the parts"));
  EXPECT_THAT(Losses(records), Not(HasSubstr("all events until then")));
  EXPECT_THAT(Losses(records), HasSubstr("ended without stopping (killed, os._exit or exec)\n"));

  ProcessBuilder chunks;
  chunks.Allocate(0x1000, 10).EndChunk().SkipChunks(2);
  chunks.Mark("m").set_end(v1::End::MERGED);
  EXPECT_THAT(Losses(chunks), HasSubstr("2 chunks are missing"));
  EXPECT_THAT(Losses(chunks), Not(HasSubstr("all events until then")));

  ProcessBuilder counted;
  counted.Mark("m").set_end(v1::End::MERGED);
  counted.counters().set_lost_events(5);
  EXPECT_THAT(Losses(counted), HasSubstr("5 events were not written"));
  EXPECT_THAT(Losses(counted), Not(HasSubstr("all events until then")));
}

}  // namespace
}  // namespace memoir
