// The device's report file for other processes: complete at any instant, and after a fork.
#include "simcuda/configuration/report_file.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "simcuda/configuration/configuration.h"
#include "simcuda/kernels/unknown_shapes.h"
#include "simcuda/machine/device.h"
#include "tests/counted_getenv.h"

namespace memoir::simcuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWords[] = {
#define MEMOIR_SIM_WORD(name) #name,
#include "proto/memoir/simulation_report.def"
#undef MEMOIR_SIM_WORD
};
using Words = std::map<std::string, std::uint64_t>;

// Device 0 of one file, in the layout of the table.
Words ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::uint64_t> words(4 + std::size(kWords));
  file.read(reinterpret_cast<char*>(words.data()), static_cast<std::streamsize>(words.size() * 8));
  EXPECT_EQ(words[2], std::size(kWords));
  EXPECT_EQ(words[3], static_cast<std::uint64_t>(kMostDevices));
  Words found = {{"pid", words[1]}};
  for (std::size_t i = 0; i < std::size(kWords); ++i) found[kWords[i]] = words[4 + i];
  return found;
}

std::vector<fs::path> Files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

CardProfile SmallCard() {
  CardProfile profile;
  profile.memory = 100 * kMiB;
  profile.context = 10 * kMiB;
  return profile;
}

// The folder is looked up once per process, so each case runs in a separate process.
template <typename Case>
int InChild(const fs::path& folder, const Case& run) {
  const pid_t pid = fork();
  if (pid == 0) {
    setenv("MEMOIR_SIM_REPORT", folder.c_str(), 1);
    Contents contents;
    Device device(0, SmallCard(), contents);
    run(device);
    _exit(0);  // as os._exit: nothing that runs at exit may be needed
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

class ReportTest : public testing::Test {
 protected:
  ReportTest() { fs::create_directories(folder_); }
  ~ReportTest() override { fs::remove_all(folder_); }

  const fs::path folder_ = fs::temp_directory_path() / ("memoir-report-test-" + std::to_string(getpid()));
};

TEST_F(ReportTest, PeakAndRefusals) {
  EXPECT_EQ(InChild(folder_,
                    [](Device& device) {
                      const auto block = device.Allocate(50 * kMiB, BlockKind::kDevice, kGranularity);
                      device.Charge(20 * kMiB, BudgetHolder::kMapped);
                      device.Charge(4 * kMiB, BudgetHolder::kLibraries);
                      device.Free(block, BlockKind::kDevice);
                      device.Charge(8 * kMiB, BudgetHolder::kPools);
                      device.Allocate(70 * kMiB, BlockKind::kDevice, kGranularity);
                    }),
            0);
  ASSERT_EQ(Files(folder_).size(), 1u);
  const Words words = ReadFile(Files(folder_).front());
  const Words wanted = {{"pid", words.at("pid")},
                        {"total", 100 * kMiB},
                        {"context", 10 * kMiB},
                        {"used", 42 * kMiB},
                        {"peak", 84 * kMiB},
                        {"peak_blocks", 50 * kMiB},
                        {"peak_mapped", 20 * kMiB},
                        {"peak_pools", 0},
                        {"peak_libraries", 4 * kMiB},
                        {"refusals", 1},
                        {"refused", 70 * kMiB},
                        {"refused_used", 42 * kMiB},
                        {"card", 1}};
  EXPECT_EQ(words, wanted);
}

TEST_F(ReportTest, ARequestThatIsGrantedLaterIsNoRefusalThatLasts) {
  InChild(folder_, [](Device& device) {
    const auto block = device.Allocate(60 * kMiB, BlockKind::kDevice, kGranularity);
    device.Allocate(50 * kMiB, BlockKind::kDevice, kGranularity);
    device.Free(block, BlockKind::kDevice);
    device.Allocate(50 * kMiB, BlockKind::kDevice, kGranularity);
  });
  const Words words = ReadFile(Files(folder_).front());
  EXPECT_EQ(words.at("refusals"), 1u);
  EXPECT_EQ(words.at("refused"), 0u);
}

TEST_F(ReportTest, AForkedChildLeavesItsParentsFileAlone) {
  InChild(folder_, [](Device& device) {
    device.Allocate(20 * kMiB, BlockKind::kDevice, kGranularity);
    const pid_t pid = fork();
    if (pid == 0) {
      device.Allocate(40 * kMiB, BlockKind::kDevice, kGranularity);
      _exit(0);
    }
    waitpid(pid, nullptr, 0);
  });
  std::map<std::uint64_t, int> peaks;
  for (const fs::path& file : Files(folder_)) ++peaks[ReadFile(file).at("peak")];
  EXPECT_EQ(peaks, (std::map<std::uint64_t, int>{{30 * kMiB, 1}, {70 * kMiB, 1}}));
}

TEST_F(ReportTest, WhatWasNotKnownIsThereAtOnce) {
  InChild(folder_, [](Device&) {
    for (int i = 0; i < 3; ++i) CountUnknownShape("aten::argwhere");  // which no other test counts
    NoteUnknownNumber(kLargestNumbers + 1);
    NoteUnknownNumber(4);
    NoteUnknownNumber(4);
  });
  std::ifstream file(folder_ / "unknown");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, "shape aten::argwhere\nnumber\n");
}

// The program may be changing it, in another thread.
TEST_F(ReportTest, TheEnvironmentIsNotLookedAtAfterTheFirstUse) {
  EXPECT_EQ(InChild(folder_,
                    [](Device& device) {
                      device.Charge(kMiB, BudgetHolder::kMapped);
                      if (looks.exchange(0) == 0) _exit(100);
                      device.Free(device.Allocate(20 * kMiB, BlockKind::kDevice, kGranularity), BlockKind::kDevice);
                      CountUnknownShape("aten::unique");
                      NoteUnknownNumber(4);
                      _exit(looks.load());
                    }),
            0);
}

TEST_F(ReportTest, AFolderThatDoesNotExistCostsTheReportAlone) {
  EXPECT_EQ(InChild(folder_ / "nowhere",
                    [](Device& device) {
                      if (device.Allocate(20 * kMiB, BlockKind::kDevice, kGranularity) == 0) _exit(1);
                    }),
            0);
}

}  // namespace
}  // namespace memoir::simcuda
