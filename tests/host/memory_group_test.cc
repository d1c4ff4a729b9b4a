// The memory cgroup of a process, as several systems show it.
#include "tracker/host/memory_group.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/host/fake_system.h"

namespace memoir {
namespace {

using testing::FakeSystem;

constexpr char kMount2[] = "31 23 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup rw,nsdelegate\n";
constexpr char kMount1[] =
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n";

TEST(MemoryGroup, OfVersion2IsTheOneWithTheSmallestLimit) {
  FakeSystem system;
  system.Put("/proc/self/mountinfo", kMount2).Put("/proc/self/cgroup", "0::/job/step/task\n");
  for (const char* folder : {"/job/step/task", "/job/step", "/job"})
    system.Put(std::string("/sys/fs/cgroup") + folder + "/memory.current", "5000\n");
  system.Put("/sys/fs/cgroup/job/step/task/memory.max", "max\n");
  system.Put("/sys/fs/cgroup/job/step/memory.max", "9000\n");
  system.Put("/sys/fs/cgroup/job/memory.max", "20000\n");
  system.Put("/sys/fs/cgroup/job/step/memory.stat",
             "anon 3000\nfile 900\nshmem 200\ninactive_file 500\nactive_file 200\n");
  system.Put("/sys/fs/cgroup/job/step/memory.events", "low 0\nhigh 0\nmax 4\noom 2\noom_kill 1\n");
  const MemoryGroup group = MemoryGroup::Find(system.root());
  ASSERT_TRUE(group.is_known());
  EXPECT_NE(group.id(), 0u);
  const GroupMemory memory = group.Read();
  EXPECT_EQ(memory.used_bytes, 5000u);
  EXPECT_EQ(memory.limit_bytes, 9000u);
  EXPECT_EQ(memory.reclaimable_bytes, 700u);
  EXPECT_EQ(memory.shared_bytes, 200u);
  EXPECT_EQ(memory.kills, 1u);
}

TEST(MemoryGroup, OfVersion1HasItsTotals) {
  FakeSystem system;
  system.Put("/proc/self/mountinfo", kMount1).Put("/proc/self/cgroup", "4:cpuset:/\n3:cpu,memory:/a\n0::/\n");
  system.Put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "90000\n");
  system.Put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  system.Put("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "7000\n");
  system.Put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "8000\n");
  system.Put("/sys/fs/cgroup/memory/a/memory.stat",
             "shmem 1\nactive_file 1\ninactive_file 1\ntotal_shmem 30\ntotal_inactive_file 20\ntotal_active_file 10\n");
  system.Put("/sys/fs/cgroup/memory/a/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  const GroupMemory memory = MemoryGroup::Find(system.root()).Read();
  EXPECT_EQ(memory.used_bytes, 7000u);
  EXPECT_EQ(memory.limit_bytes, 8000u);
  EXPECT_EQ(memory.reclaimable_bytes, 30u);
  EXPECT_EQ(memory.shared_bytes, 30u);
  EXPECT_EQ(memory.kills, 3u);
}

TEST(MemoryGroup, OfAContainerIsAtTheMountsPoint) {
  // Without a namespace for cgroups the path is the host's, and the container sees only its own group.
  FakeSystem system;
  system.Put("/proc/self/mountinfo", "35 31 0:32 /docker/0c4 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  system.Put("/proc/self/cgroup", "3:memory:/docker/0c4\n");
  system.Put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "7000\n");
  system.Put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "8000\n");
  EXPECT_EQ(MemoryGroup::Find(system.root()).Read().limit_bytes, 8000u);
}

TEST(MemoryGroup, WithoutLimitIsTheProcesssOwn) {
  FakeSystem system;
  system.Put("/proc/self/mountinfo", kMount2).Put("/proc/self/cgroup", "0::/a/b\n");
  system.Put("/sys/fs/cgroup/a/memory.current", "2\n").Put("/sys/fs/cgroup/a/memory.max", "max\n");
  system.Put("/sys/fs/cgroup/a/b/memory.current", "1\n").Put("/sys/fs/cgroup/a/b/memory.max", "max\n");
  const GroupMemory memory = MemoryGroup::Find(system.root()).Read();
  EXPECT_EQ(memory.used_bytes, 1u);
  EXPECT_EQ(memory.limit_bytes, kNotKnown);
  EXPECT_EQ(memory.kills, kNotKnown);
}

TEST(MemoryGroup, IsNotKnownWithoutFilesOrWithNonsense) {
  FakeSystem system;
  EXPECT_FALSE(MemoryGroup::Find(system.root()).is_known());
  system.Put("/proc/self/mountinfo", " - cgroup2\n\n- - -\n").Put("/proc/self/cgroup", "0::\n:::\nmemory\n");
  EXPECT_FALSE(MemoryGroup::Find(system.root()).is_known());
  EXPECT_EQ(MemoryGroup::Find(system.root()).Read().used_bytes, kNotKnown);
}

}  // namespace
}  // namespace memoir
