// A replay of one rank of several: what it says of the others.
#include <gtest/gtest.h>

#include <string>

#include "tests/captures/capture_builder.h"
#include "tools/model/capture.h"
#include "tools/view/capture/capture_text.h"

namespace memoir {
namespace {

using testing::ProcessBuilder;
using testing::ProcessOptions;
using testing::TemporaryFolder;

TEST(SelectedRankTest, LossesAreOfTheRankThatIsReplayedAlone) {
  const TemporaryFolder folder;
  ProcessOptions options;
  options.pid = 10;
  ProcessBuilder(options).Mark("m").WriteTo(folder.path());
  options.rank = 1;
  options.pid = 11;
  ProcessBuilder killed(options);
  killed.Mark("m").Kill();
  const std::string part = killed.parts()[0];
  testing::WriteFile(folder / killed.FileName(0), part + std::string("\x0A\xff\x01half a chunk"));
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok());
  for (const std::uint32_t rank : {0u, 1u}) {
    Visitor nobody;
    ReplayOptions replay;
    replay.rank = rank;
    const absl::StatusOr<ReplayReport> report = capture->Replay(nobody, replay);
    EXPECT_TRUE(report->processes[rank].replayed);
    EXPECT_FALSE(report->processes[1 - rank].replayed);
    EXPECT_EQ(report->damage.size(), rank) << "rank 1 alone is damaged";
    const bool said = RenderLosses(*capture, *report, {}).find("no end is recorded") != std::string::npos;
    EXPECT_EQ(said, rank == 1);
  }
}

}  // namespace
}  // namespace memoir
