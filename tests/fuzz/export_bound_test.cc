// memoir export events of a small capture that says, in a few bytes, what takes gigabytes to print.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "tests/captures/capture_builder.h"
#include "tests/fuzz/mutated_fields.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/terminal/exit_code.h"

namespace memoir {
namespace {

using testing::ProcessBuilder;
using testing::TemporaryFolder;

// In each chunk tens of thousands of ranges are open, which have all ended in the next one.
void WriteDeepRuns(const TemporaryFolder& folder) {
  ProcessBuilder process;
  for (int i = 0; i < 30; ++i) process.Mark("m").EndChunk();
  process.Finish();
  bool deep = false;
  const auto deepen = [&deep](v1::Payload* payload) {
    deep = !deep;
    for (v1::ThreadRun& run : *payload->mutable_runs()) run.set_start_depth(deep ? 0xffff : 0);
  };
  testing::WriteFile(folder / process.FileName(0), testing::ChangePayloads(process.parts()[0], deepen));
}

TEST(ExportBoundTest, EventsAreRefusedWhereTheyAreThousandsOfTimesWhatWasRecorded) {
  const TemporaryFolder folder, output;
  WriteDeepRuns(folder);
  const std::string file = output / "events.json";
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(ExportVerb({"events", folder.path(), "-o", file}), kExitError);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("take more than"), std::string::npos) << said;
  EXPECT_NE(said.find("--force"), std::string::npos) << said;
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(ExportVerb({"events", "--force", folder.path(), "-o", "/dev/null"}), kExitFine);
}

}  // namespace
}  // namespace memoir
