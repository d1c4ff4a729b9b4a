// The output of `memoir live` for pictures made by hand, at the widths of terminals.
#include <cstdlib>
#include <ctime>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/golden/expect_golden.h"
#include "tools/analyze/live/live_figures.h"
#include "tools/view/live/live_json.h"
#include "tools/view/live/live_prometheus.h"
#include "tools/view/live/live_text.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

// A GPU that a leak fills, second by second.
LiveMemory Gpu(std::uint64_t total) {
  LiveMemory gpu;
  gpu.name = "cuda:0";
  gpu.caching = true;
  gpu.allocated = 5 * kGiB + 300 * kMiB;
  gpu.active = gpu.allocated;
  gpu.reserved = 7 * kGiB + 512 * kMiB;
  gpu.peak = 7 * kGiB + 100 * kMiB;
  gpu.step_peak = 7 * kGiB;
  gpu.total = total;
  gpu.headroom = total - gpu.allocated - 700 * kMiB;
  for (std::uint64_t second = 0; second < 150; ++second) {
    gpu.levels.push_back(
        {3 * kGiB + second * 16 * kMiB + (second % 5) * 256 * kMiB, 5 * kGiB + second / 30 * 640 * kMiB});
  }
  gpu.categories = {{"activation", 3 * kGiB},
                    {"parameter", 2 * kGiB},
                    {"optimizer state", kGiB},
                    {"gradient", 800 * kMiB},
                    {"unknown", 224 * kMiB}};
  gpu.modules = {{"blocks.*.mlp", 2 * kGiB},
                 {"(outside of modules)", 3 * kGiB},
                 {"blocks.*.attention.projection_of_values", kGiB}};
  gpu.rows_step = 1203;
  gpu.rows_bytes = 7 * kGiB;
  return gpu;
}

LiveProcess Training(std::uint32_t rank, std::uint64_t pid) {
  LiveProcess process;
  process.program = "train.py";
  process.host = "node7";
  process.pid = pid;
  process.rank = rank;
  process.world_size = 2;
  process.runs_s = 725.4;
  process.age_s = 0.4;
  process.step_source = StepSource::kOptimizer;
  process.step = 1204;
  process.steps = 1204;
  process.step_seconds = 0.12;
  process.events = 18'000'000;
  process.events_per_second = 152'000;
  process.devices = {Gpu(80 * kGiB)};
  LiveMemory cpu;
  cpu.name = "cpu";
  cpu.allocated = cpu.peak = 3 * kMiB;
  process.devices.push_back(cpu);
  return process;
}

LiveFigures OneProcess() {
  LiveFigures figures;
  figures.folder = "run7";
  figures.time_ns = 1'700'000'000'000'000'000;
  figures.reader_share = 0.012;
  figures.processes = {Training(0, 4242)};
  return figures;
}

LiveFigures Leaking() {
  LiveFigures figures = OneProcess();
  LiveProcess& process = figures.processes[0];
  process.simulated = "NVIDIA H100 80GB HBM3 (h100)";
  process.full_share = 0.2;
  LiveMemory& gpu = process.devices[0];
  gpu.growth = LiveGrowth{120, 1084, 1084 * 14 * kMiB, 14.0 * kMiB};
  Foresee(process.step_seconds, gpu);
  gpu.retries = 2;
  return figures;
}

LiveFigures Job() {
  LiveFigures figures = OneProcess();
  figures.processes.clear();
  for (std::uint32_t rank = 0; rank < 12; ++rank) {
    LiveProcess process = Training(rank, 5000 + rank);
    process.devices[0].allocated += rank % 5 * 256 * kMiB;
    *process.devices[0].headroom -= rank % 5 * 256 * kMiB;
    figures.processes.push_back(process);
  }
  figures.processes[7].state = LiveState::kDied;
  figures.processes[3].oom_count = 3;
  figures.processes[3].ooms = {{1180, 2 * kGiB, "cuda:0"}};
  figures.processes[9].age_s = 42;
  figures.processes[9].state = LiveState::kSilent;
  figures.processes[5].lost_events = 1234;
  return figures;
}

LiveFigures Ended() {
  LiveFigures figures = OneProcess();
  figures.processes[0].state = LiveState::kEnded;
  figures.processes[0].end = "ValueError: \x1b[31mno more data";
  figures.processes[0].devices = {figures.processes[0].devices[1]};
  figures.processes[0].rank.reset();
  figures.processes[0].step_source = StepSource::kNone;
  return figures;
}

std::string Screen(const LiveFigures& figures, std::size_t width, std::size_t height) {
  const LiveScreenOptions options = {height, "q quit  s snapshot  o recording off  m memory only", ""};
  std::string text;
  std::size_t lines = 0;
  for (const std::string& line : RenderLiveScreen(figures, {.width = width}, options)) {
    EXPECT_LE(DisplayWidth(line), width) << line;
    text += line + "\n";
    ++lines;
  }
  EXPECT_LE(lines, height);
  return text;
}

class LiveViews : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
  }
};

TEST_F(LiveViews, AnOlderStepInFullIsSaidToBeThat) {
  LiveFigures figures = OneProcess();
  const auto shows = [&](const std::string& heading) {
    for (const std::string& line : RenderLiveScreen(figures, {.width = 80}, {})) {
      if (line == heading) return true;
    }
    return false;
  };
  EXPECT_TRUE(shows("  at the peak of step 1,203, 7.00 GiB:"));
  figures.processes.front().step = 5000;
  EXPECT_TRUE(shows("  at the peak of step 1,203, the last one recorded in full, 7.00 GiB:"));
}

TEST_F(LiveViews, OneProcess) {
  testing::ExpectGolden("live.txt", Screen(OneProcess(), 80, 24));
  testing::ExpectGolden("live_wide.txt", Screen(OneProcess(), 120, 40));
}

// A row for the rest of the peak takes the place of two rows or more.
TEST_F(LiveViews, RowsAfterTheFourthAreOneRowIfThereAreMoreThanFive) {
  LiveFigures figures = OneProcess();
  EXPECT_THAT(Screen(figures, 80, 24), ::testing::Not(::testing::HasSubstr("others"))) << "five categories";
  LiveMemory& gpu = figures.processes[0].devices[0];
  gpu.categories.back().bytes -= 24 * kMiB;
  gpu.categories.push_back({"buffer", 24 * kMiB});
  const std::string shown = Screen(figures, 80, 24);
  EXPECT_THAT(shown, ::testing::ContainsRegex("\n  gradient +800\\.0 MiB +11\\.2%"));
  EXPECT_THAT(shown, ::testing::ContainsRegex("\n  others +224\\.0 MiB +3\\.1%"));
  EXPECT_THAT(shown, ::testing::Not(::testing::ContainsRegex("\n  (unknown|buffer) ")));
}

TEST_F(LiveViews, ALeak) {
  testing::ExpectGolden("live_leak.txt", Screen(Leaking(), 80, 24));
  testing::ExpectGolden("live_leak_wide.txt", Screen(Leaking(), 120, 40));
}

TEST_F(LiveViews, AJob) {
  testing::ExpectGolden("live_job.txt", Screen(Job(), 80, 24));
  testing::ExpectGolden("live_job_wide.txt", Screen(Job(), 120, 40));
}

TEST_F(LiveViews, Ended) { testing::ExpectGolden("live_ended.txt", Screen(Ended(), 80, 24)); }

// However small a terminal is, what was found and the keys are there, and nothing is wider or higher.
TEST_F(LiveViews, FitsAnyTerminal) {
  for (const std::size_t width : {40, 57, 80, 200}) {
    for (const std::size_t height : {2, 5, 10, 24, 60}) {
      Screen(Leaking(), width, height);
      Screen(Job(), width, height);
      Screen(Ended(), width, height);
    }
  }
  EXPECT_NE(Screen(Leaking(), 80, 12).find("grows by 14.0 MiB a step"), std::string::npos);
}

TEST_F(LiveViews, StepsThatWereAskedFor) {
  LiveFigures figures = OneProcess();
  figures.processes[0].asked = {1, 3, 1203, 2, true};
  EXPECT_NE(Screen(figures, 120, 24).find("step 1,204, 8.3 a second, step 2 of 3 in full\n"), std::string::npos);
  EXPECT_NE(RenderLiveLines(figures, 1).find("step 2 of 3 in full"), std::string::npos);
  EXPECT_NE(LiveJsonLine(figures).find(R"("asked_steps":{"steps":3,"first":1203,"begun":2,"open":true})"),
            std::string::npos);
  figures.processes[0].asked.open = false;
  EXPECT_EQ(Screen(figures, 120, 24), Screen(OneProcess(), 120, 24));
}

TEST_F(LiveViews, Lines) {
  testing::ExpectGolden("live_lines.txt",
                        RenderLiveLines(Leaking(), 8) + RenderLiveLines(Job(), 3) + RenderLiveLines(Ended(), 8));
}

TEST_F(LiveViews, ForPrograms) {
  testing::ExpectGolden("live.json", LiveJsonLine(Leaking()) + LiveJsonLine(Ended()));
  testing::ExpectGolden("live_prometheus.txt", LivePrometheus(Leaking()));
}

}  // namespace
}  // namespace memoir
