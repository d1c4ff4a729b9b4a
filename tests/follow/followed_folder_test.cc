// A capture that grows, looked at while it does: byte by byte it gives what the whole gives, whatever is missing.
#include "tools/follow/followed_folder.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/captures/capture_builder.h"
#include "tools/analyze/live/live_pass.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"

namespace memoir {
namespace {

namespace fs = std::filesystem;
using ::memoir::testing::ProcessBuilder;
using ::memoir::testing::ProcessOptions;
using ::memoir::testing::TemporaryFolder;

// Steps of a model that keeps a block more each time, on two threads, over several chunks and parts.
ProcessBuilder Training(const ProcessOptions& options, int steps, bool parts) {
  ProcessBuilder process(options);
  process.Allocate(0x1000, 4096);
  for (int step = 1; step <= steps; ++step) {
    const auto at = static_cast<std::uint64_t>(step);
    process.OnThread(1).Step(at);
    process.Begin("aten::mm").Allocate(0x10000, 1 << 20).End();
    process.OnThread(2).Begin("aten::mul").Allocate(0x200000 + at * 0x1000, 2048).End();
    process.OnThread(1).Begin("aten::relu").Allocate(0x20000, 512 * at).End();
    process.Deallocate(0x10000).Deallocate(0x20000);
    if (step % 2 == 0) process.EndChunk(step % 8 == 0);
    if (parts && step % 10 == 0) process.EndPart();
  }
  return process;
}

// A follower of a folder, and the events that it has seen.
struct Followed {
  std::vector<std::unique_ptr<LivePass>> passes;
  std::unique_ptr<FollowedFolder> folder;
  CpuBudget budget{2};

  explicit Followed(const std::string& path) {
    auto opened = FollowedFolder::Open(path, [this](const v1::ProcessInfo& info) -> Visitor& {
      return *passes.emplace_back(std::make_unique<LivePass>(info));
    });
    if (opened.ok()) folder = *std::move(opened);
  }
  bool Look() {
    return folder->ReadNewChunks(budget, [] { return true; });
  }
  LiveProcess Describe(std::size_t at = 0) const {
    LiveProcess process;
    process.events = folder->recordings()[at]->events();
    passes[at]->Describe(process);
    return process;
  }
};

void ExpectSame(const LiveProcess& a, const LiveProcess& b) {
  EXPECT_EQ(a.events, b.events);
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.steps, b.steps);
  ASSERT_EQ(a.devices.size(), b.devices.size());
  for (std::size_t i = 0; i < a.devices.size(); ++i) {
    EXPECT_EQ(a.devices[i].allocated, b.devices[i].allocated);
    EXPECT_EQ(a.devices[i].reserved, b.devices[i].reserved);
    EXPECT_EQ(a.devices[i].peak, b.devices[i].peak);
    EXPECT_EQ(a.devices[i].step_peak, b.devices[i].step_peak);
    EXPECT_EQ(a.devices[i].growth.has_value(), b.devices[i].growth.has_value());
  }
}

// The bytes of each part file; the files grow one after the other, as a recorder writes them.
std::vector<std::pair<std::string, std::string>> FilesOf(ProcessBuilder& process) {
  std::vector<std::pair<std::string, std::string>> files;
  const std::vector<std::string>& parts = process.parts();
  for (std::uint32_t part = 0; part < parts.size(); ++part) files.emplace_back(process.FileName(part), parts[part]);
  return files;
}

void AppendTo(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::app | std::ios::binary) << bytes;
}

TEST(FollowedFolderTest, ByteByByteIsAsTheWhole) {
  const TemporaryFolder whole, growing;
  ProcessBuilder process = Training({}, 40, true);
  const auto files = FilesOf(process);
  for (const auto& [name, bytes] : files) AppendTo(whole / name, bytes);
  Followed at_once(whole.path());
  ASSERT_NE(at_once.folder, nullptr);
  at_once.Look();

  std::unique_ptr<Followed> followed;
  std::size_t looks_with_news = 0;
  for (const auto& [name, bytes] : files) {
    for (const char byte : bytes) {
      AppendTo(growing / name, std::string_view(&byte, 1));
      if (followed == nullptr) followed = std::make_unique<Followed>(growing.path());
      if (followed->folder == nullptr) {
        followed.reset();  // its first chunk is not whole yet
      } else {
        looks_with_news += followed->Look();
      }
    }
  }
  ASSERT_NE(followed, nullptr);
  EXPECT_GT(looks_with_news, 20u);
  ExpectSame(followed->Describe(), at_once.Describe());
  EXPECT_TRUE(followed->folder->recordings()[0]->has_end());
  EXPECT_EQ(followed->folder->recordings()[0]->report().lost_records, 0u);
  EXPECT_TRUE(followed->folder->recordings()[0]->damage().empty());
}

TEST(FollowedFolderTest, HasTheFiguresOfTheSummary) {
  const TemporaryFolder folder;
  ProcessBuilder process = Training({}, 40, true);
  process.WriteTo(folder.path());
  Followed followed(folder.path());
  followed.Look();
  const auto capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok());
  const auto summary = AnalyzeSummary(*capture, {});
  ASSERT_TRUE(summary.ok());
  ASSERT_EQ(summary->devices.size(), 1u);
  const LiveProcess seen = followed.Describe();
  EXPECT_EQ(seen.devices[0].peak, summary->devices[0].peak_allocated_bytes);
  EXPECT_EQ(seen.devices[0].allocated, summary->devices[0].live_bytes_at_end);
  EXPECT_EQ(seen.steps, 40u);
}

// With nothing to spend only memory is read: the same sums and steps, and no rows.
TEST(FollowedFolderTest, MemoryAloneHasTheSameSums) {
  const TemporaryFolder folder;
  ProcessBuilder process = Training({}, 40, true);
  process.WriteTo(folder.path());
  Followed full(folder.path()), skimmed(folder.path());
  skimmed.budget = CpuBudget(1e-9, 0);
  skimmed.budget.Spend(1, true);
  full.Look();
  skimmed.Look();
  EXPECT_EQ(skimmed.folder->recordings()[0]->chunks_in_full(), 0u);
  ExpectSame(skimmed.Describe(), full.Describe());
  EXPECT_FALSE(full.Describe().devices[0].categories.empty());
  EXPECT_TRUE(skimmed.Describe().devices[0].categories.empty());
}

// A step that is read in full has the composition of its peak, and the rows add up to it.
TEST(FollowedFolderTest, RowsAddUpToTheStepsPeak) {
  const TemporaryFolder folder;
  Training({}, 12, false).WriteTo(folder.path());
  Followed followed(folder.path());
  followed.Look();
  const LiveMemory device = followed.Describe().devices.at(0);
  std::uint64_t categories = 0, modules = 0;
  for (const LiveShare& row : device.categories) categories += row.bytes;
  for (const LiveShare& row : device.modules) modules += row.bytes;
  EXPECT_EQ(categories, device.rows_bytes);
  EXPECT_EQ(modules, device.rows_bytes);
  EXPECT_EQ(device.rows_step, 1u) << "one step a second, the first that was whole";
  EXPECT_EQ(device.rows_bytes, 4096u + (1 << 20) + 2048 + 512);
}

TEST(FollowedFolderTest, ReadingInFullAndNotByTurnsKeepsTheSums) {
  const TemporaryFolder folder;
  Training({}, 64, true).WriteTo(folder.path());
  Followed full(folder.path());
  full.Look();
  // One chunk in full, one not.
  const TemporaryFolder growing;
  ProcessBuilder again = Training({}, 64, true);
  std::unique_ptr<Followed> turns;
  bool in_full = false;
  for (const auto& [name, bytes] : FilesOf(again)) {
    for (std::size_t at = 0; at < bytes.size(); at += 200) {
      AppendTo(growing / name, std::string_view(bytes).substr(at, 200));
      if (turns == nullptr) turns = std::make_unique<Followed>(growing.path());
      if (turns->folder == nullptr) {
        turns.reset();
        continue;
      }
      turns->budget = CpuBudget(in_full ? 2 : 1e-9, 0);
      turns->budget.Spend(1, true);
      if (turns->Look()) in_full = !in_full;
    }
  }
  ASSERT_NE(turns, nullptr);
  const FollowedRecording& recording = *turns->folder->recordings()[0];
  EXPECT_GT(recording.chunks_in_full(), 0u);
  EXPECT_LT(recording.chunks_in_full(), recording.chunks());
  ExpectSame(turns->Describe(), full.Describe());
}

// Killed while it wrote: what is whole counts, the rest waits; memoir-drain's part then goes on.
TEST(FollowedFolderTest, ACutChunkWaitsAndTheDrainedPartGoesOn) {
  const TemporaryFolder folder;
  ProcessBuilder process = Training({}, 20, true);
  process.Step(21).Kill();
  const auto files = FilesOf(process);
  ASSERT_EQ(files.size(), 3u);
  AppendTo(folder / files[0].first, files[0].second);
  AppendTo(folder / files[1].first, std::string_view(files[1].second).substr(0, files[1].second.size() - 300));
  Followed followed(folder.path());
  followed.Look();
  const std::uint64_t before = followed.Describe().steps;
  EXPECT_LT(before, 20u);
  EXPECT_FALSE(followed.Look()) << "nothing new";
  EXPECT_TRUE(followed.folder->recordings()[0]->damage().empty()) << "it may go on yet";
  AppendTo(folder / files[2].first, files[2].second);
  EXPECT_TRUE(followed.Look());
  EXPECT_EQ(followed.Describe().step, 21u);
}

TEST(FollowedFolderTest, DamageEndsAPartAndTheNextGoesOn) {
  const TemporaryFolder folder;
  ProcessBuilder process = Training({}, 20, true);
  auto files = FilesOf(process);
  std::string& first = files[0].second;
  first[process.chunk_offsets(0)[2] + 60] ^= 1;
  for (const auto& [name, bytes] : files) AppendTo(folder / name, bytes);
  Followed followed(folder.path());
  followed.Look();
  EXPECT_EQ(followed.Describe().step, 20u);
  EXPECT_EQ(followed.Describe().devices[0].allocated, 4096u + 20 * 2048) << "from the keyframe of the next part";
}

// --max-size evicts the oldest parts while somebody reads them.
TEST(FollowedFolderTest, APartThatIsRemovedWhileItIsReadIsNoDamage) {
  for (const bool was_read : {false, true}) {
    const TemporaryFolder folder;
    ProcessBuilder process = Training({}, 40, true);
    const auto files = FilesOf(process);
    const std::string& first = files[0].second;
    AppendTo(folder / files[0].first, std::string_view(first).substr(0, first.size() / 2));
    Followed followed(folder.path());
    if (was_read) followed.Look();
    AppendTo(folder / files[0].first, std::string_view(first).substr(first.size() / 2));
    fs::remove(folder / files[0].first);
    followed.Look();
    EXPECT_TRUE(followed.folder->recordings()[0]->is_gone());
    for (std::size_t i = 1; i < files.size(); ++i) AppendTo(folder / files[i].first, files[i].second);
    followed.Look();
    const FollowedRecording& recording = *followed.folder->recordings()[0];
    EXPECT_FALSE(recording.is_gone());
    EXPECT_TRUE(recording.damage().empty()) << ToString(recording.damage()[0]);
    EXPECT_EQ(recording.report().lost_records, 0u);
    EXPECT_EQ(followed.Describe().step, 40u);
    EXPECT_EQ(followed.Describe().devices[0].allocated, 4096u + 40 * 2048);
  }
}

TEST(FollowedFolderTest, SaysThatItsFileIsGone) {
  const TemporaryFolder folder;
  ProcessBuilder process = Training({}, 20, false);
  process.WriteTo(folder.path());
  Followed followed(folder.path());
  followed.Look();
  EXPECT_FALSE(followed.folder->recordings()[0]->is_gone());
  fs::remove(folder / process.FileName(0));
  EXPECT_FALSE(followed.Look());
  EXPECT_TRUE(followed.folder->recordings()[0]->is_gone());
  EXPECT_EQ(followed.Describe().step, 20u) << "the last picture stays";
}

TEST(FollowedFolderTest, ARankThatBeginsLaterJoins) {
  const TemporaryFolder folder;
  ProcessOptions options;
  options.world_size = 2;
  Training(options, 20, false).WriteTo(folder.path());
  Followed followed(folder.path());
  followed.Look();
  ASSERT_EQ(followed.folder->recordings().size(), 1u);
  options.rank = 1;
  options.pid = 101;
  Training(options, 10, false).WriteTo(folder.path());
  followed.Look();
  ASSERT_EQ(followed.folder->recordings().size(), 2u);
  EXPECT_EQ(followed.Describe(1).step, 10u);
  EXPECT_EQ(followed.Describe(0).step, 20u);
}

// By marks of the recorder, whose numbers are the program's own where it counts.
TEST(FollowedFolderTest, KnowsWhichStepsWereAskedForInFull) {
  const TemporaryFolder folder;
  ProcessBuilder process;
  process.OnThread(1).Step(5).Allocate(0x1000, 4096).Step(6).Mark("memoir.steps_in_full 3 6").Step(7);
  process.EndChunk(false);
  process.Mark("memoir.steps_in_full x").Mark("memoir.steps_in_full ").Step(8).Step(9).Mark("memoir.steps_in_full 0");
  process.Step(10).Mark("memoir.steps_in_full 2");
  const std::string file = folder / process.FileName(0);
  const std::vector<std::string>& parts = process.parts();
  AppendTo(file, std::string_view(parts[0]).substr(0, process.chunk_offsets(0)[1]));
  Followed followed(folder.path());
  ASSERT_NE(followed.folder, nullptr);
  followed.Look();
  FullStepRequest asked = followed.Describe().asked;
  EXPECT_TRUE(asked.open);
  EXPECT_EQ(asked.times, 1u);
  EXPECT_EQ(asked.steps, 3u);
  EXPECT_EQ(asked.first, 6u);
  EXPECT_EQ(asked.begun, 2u);
  AppendTo(file, std::string_view(parts[0]).substr(process.chunk_offsets(0)[1]));
  followed.Look();
  asked = followed.Describe().asked;
  EXPECT_EQ(asked.times, 2u);
  EXPECT_EQ(asked.first, 10u);
  EXPECT_EQ(asked.begun, 1u);
}

// A recording that is too large to be read from its start is read from its last keyframe, with the earlier names.
TEST(FollowedRecordingTest, BeginsAtTheLastKeyframe) {
  const TemporaryFolder path;
  Training({}, 44, false).WriteTo(path.path());
  auto files = OpenFolder(path.path());
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->processes.size(), 1u);
  const Symbols symbols;
  LivePass pass(files->processes[0].parts[0].process);
  FollowedRecording recording(files->processes[0], symbols, pass, 1);
  CpuBudget budget(2);
  recording.ReadNewChunks(budget, [] { return true; });
  EXPECT_TRUE(recording.begun_late());
  LiveProcess process;
  pass.Describe(process);
  ASSERT_EQ(process.devices.size(), 1u);
  EXPECT_EQ(process.devices[0].allocated, 4096u + 44 * 2048);
  EXPECT_EQ(process.step, 44u);
  EXPECT_LT(process.steps, 10u);
  EXPECT_EQ(recording.report().lost_records, 0u);
}

}  // namespace
}  // namespace memoir
