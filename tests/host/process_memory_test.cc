// Figures of processes from /proc, and of malloc.
#include "tracker/host/process_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "tests/host/fake_system.h"
#include "tracker/host/host_number_sources.h"
#include "tracker/host/malloc_state.h"

namespace memoir {
namespace {

using testing::FakeSystem;
constexpr std::size_t kMany = 64u << 20;

TEST(ProcessMemory, ReadsWhatTheKernelSays) {
  FakeSystem system;
  system.Put("/7/status",
             "Name:\tpython\nRssAnon:\t    2048 kB\nRssFile:\t 512 kB\nRssShmem:\t 4 kB\nVmSwap:\t 0 kB\n");
  const ProcessMemory memory = ReadProcessMemory(system.root() + "/7");
  EXPECT_EQ(memory.anonymous_bytes, 2u << 20);
  EXPECT_EQ(memory.file_bytes, 512u << 10);
  EXPECT_EQ(memory.shared_bytes, 4096u);
  EXPECT_EQ(memory.swap_bytes, 0u);
  EXPECT_EQ(ReadProcessMemory(system.root() + "/8").anonymous_bytes, kNotKnown);
  EXPECT_EQ(ReadProportionalBytes(system.root() + "/7"), kNotKnown);
}

TEST(ProcessMemory, FindsChildrenOfChildren) {
  FakeSystem system;
  const auto process = [&](int pid, int parent, const char* name, const char* anonymous) {
    const std::string folder = "/" + std::to_string(pid);
    system.Put(folder + "/stat", std::to_string(pid) + " (" + name + ") S " + std::to_string(parent) + " 1 1\n");
    system.Put(folder + "/status", std::string("RssAnon: ") + anonymous + " kB\n");
  };
  process(10, 1, "python", "1000");
  process(11, 10, "worker) R 1", "2");  // whose name looks like the fields behind it
  process(12, 11, "of a worker", "3");
  process(13, 1, "another", "4000");
  system.Put("/self/stat", "no number").Put("/meminfo", "MemTotal: 1 kB\n");
  const ChildrenMemory children = ReadChildrenMemory(system.root(), 10);
  EXPECT_EQ(children.count, 2u);
  EXPECT_EQ(children.anonymous_bytes, 5u << 10);
  EXPECT_EQ(ReadChildrenMemory(system.root(), 13).count, 0u);
  EXPECT_EQ(ReadChildrenMemory(system.root() + "/nowhere", 10).count, kNotKnown);
}

TEST(ProcessMemory, OfThisProcessGrowsByWhatItTouches) {
  HostNumbers before = UnknownHostNumbers();
  ReadOwnMemory(&before);
  ASSERT_NE(before.anonymous_bytes, kNotKnown);
  void* const touched = mmap(nullptr, kMany, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memset(touched, 1, kMany);
  HostNumbers after = UnknownHostNumbers();
  ReadOwnMemory(&after);
  EXPECT_GE(after.anonymous_bytes, before.anonymous_bytes + kMany);
  munmap(touched, kMany);
}

TEST(ProcessMemory, MallocKnowsWhatWasTaken) {
  const MallocState before = ReadMallocState();
  if (before.used_bytes == kNotKnown) GTEST_SKIP() << "malloc is not glibc's here, or glibc is older than 2.33";
  void* const taken = std::malloc(kMany);
  std::memset(taken, 1, kMany);
  const MallocState after = ReadMallocState();
  EXPECT_GE(after.used_bytes, before.used_bytes + kMany);
  std::free(taken);
  EXPECT_LT(ReadMallocState().used_bytes, after.used_bytes);
}

}  // namespace
}  // namespace memoir
