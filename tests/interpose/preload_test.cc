// The library under LD_PRELOAD in programs that have nothing to do with it: same output, nothing written.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

namespace {

struct Result {
  std::string output;
  int status;
};

Result RunShell(const std::string& command) {
  Result result{"", -1};
  FILE* pipe = popen(("{ " + command + "; } 2>&1").c_str(), "r");
  std::array<char, 4096> bytes;
  for (std::size_t size; (size = fread(bytes.data(), 1, bytes.size(), pipe)) > 0;) {
    result.output.append(bytes.data(), size);
  }
  result.status = pclose(pipe);
  return result;
}

// Programs may be scripts that run elsewhere.
std::string Library() { return std::filesystem::absolute(MEMOIR_INTERPOSE_LIBRARY).string(); }

class PreloadTest : public testing::TestWithParam<const char*> {};

TEST_P(PreloadTest, ProgramIsAsBefore) {
  if (!std::string(MEMOIR_SANITIZED).empty())
    GTEST_SKIP() << "a sanitized library cannot be preloaded into other programs";
  char folder[] = "/tmp/memoir-preload-test-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const Result plain = RunShell(GetParam());
  const Result preloaded =
      RunShell(std::string("export MEMOIR_RING_DIR=") + folder + " LD_PRELOAD=" + Library() + "; " + GetParam());
  EXPECT_EQ(preloaded.output, plain.output);
  EXPECT_EQ(preloaded.status, plain.status);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(
    Programs, PreloadTest,
    testing::Values("/bin/true", "/bin/false", "sh -c 'echo a; (exit 3)'", "sh -c 'ls / | wc -l'",
                    "python3 -c 'import threading; t = threading.Thread(target=print); t.start(); t.join()'"));

TEST(Preload, TheLibraryIsLoadedAtAll) {
  if (!std::string(MEMOIR_SANITIZED).empty())
    GTEST_SKIP() << "a sanitized library cannot be preloaded into other programs";
  const Result maps = RunShell("LD_PRELOAD=" + Library() + " cat /proc/self/maps");
  EXPECT_NE(maps.output.find("libmemoir_interpose.so"), std::string::npos);
}

}  // namespace
