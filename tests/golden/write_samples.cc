// write_samples FOLDER: every sample capture, each in a folder of its name. For tests that run the program.
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/captures/capture_builder.h"
#include "tests/golden/sample_captures.h"

namespace {

// A process of this host that died: its ring's path is in FOLDER/ring_path; a test that needs a pending ring puts a
// file there.
void WriteDied(const std::string& folder) {
  std::filesystem::create_directories(folder);
  const std::string ring = std::filesystem::absolute(folder + "/../memoir-ring-1.ring").lexically_normal().string();
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  memoir::testing::ProcessOptions options;
  options.host = host;
  options.pid = 999'999'999;  // above any pid_max
  options.ring_path = ring;
  memoir::testing::ProcessBuilder process(options);
  process.Begin("aten::ones").Allocate(0x1000, 4 << 20).End().Kill();
  process.WriteTo(folder);
  memoir::testing::WriteFile(folder + "/ring_path", ring);
}

// Of 200 ranks one keeps what it makes. More of them than the report has rows for.
void WriteManyRanks(const std::string& folder) {
  std::filesystem::create_directories(folder);
  for (std::uint32_t rank = 0; rank < 200; ++rank) {
    memoir::testing::ProcessOptions options;
    options.rank = rank;
    options.world_size = 200;
    options.pid = 100 + rank;
    memoir::testing::ProcessBuilder process(options);
    for (std::uint64_t step = 0; step < 4; ++step) {
      process.Step(step).Begin("aten::ones").Allocate(0x1000 + step, (8 + rank % 5) << 20).End();
      if (rank != 117) process.Deallocate(0x1000 + step);
    }
    process.WriteTo(folder);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  for (const std::string& name : memoir::testing::SampleNames()) {
    memoir::testing::WriteSample(name, std::string(argv[1]) + "/" + name);
  }
  memoir::testing::WriteSample("kernel_times", std::string(argv[1]) + "/kernel_times");
  WriteDied(std::string(argv[1]) + "/died");
  WriteManyRanks(std::string(argv[1]) + "/many_ranks");
  return 0;
}
