// Pools: what they use, what they hold on to, and when they give it back.
#include "simcuda/machine/memory_pool.h"

#include "gtest/gtest.h"
#include "simcuda/configuration/configuration.h"

namespace memoir::simcuda {
namespace {

class PoolTest : public testing::Test {
 protected:
  static CardProfile Card() {
    CardProfile profile;
    profile.memory = 200 * kMiB;
    profile.context = 8 * kMiB;
    return profile;
  }
  Contents contents;
  Device device{0, Card(), contents};
  MemoryPool pool{device};
};

TEST_F(PoolTest, HoldsOnUntilItIsSynchronised) {
  const std::uint64_t a = pool.Allocate(1000), b = pool.Allocate(40 * kMiB);
  EXPECT_EQ(pool.statistics().used, 1024 + 40 * kMiB);
  EXPECT_EQ(pool.statistics().reserved, 64 * kMiB);
  EXPECT_EQ(device.Info().used, 72 * kMiB);
  EXPECT_EQ(PoolOfBlock(a), &pool);
  EXPECT_TRUE(pool.Free(a) && pool.Free(b));
  EXPECT_FALSE(pool.Free(a));
  EXPECT_EQ(PoolOfBlock(a), nullptr);
  EXPECT_EQ(device.Info().used, 72 * kMiB);
  pool.TrimToThreshold();
  EXPECT_EQ(device.Info().used, 8 * kMiB);
  EXPECT_EQ(pool.statistics().reserved_high, 64 * kMiB);
}

TEST_F(PoolTest, TheThresholdIsKept) {
  pool.set_release_threshold(UINT64_MAX);
  pool.Free(pool.Allocate(10 * kMiB));
  pool.TrimToThreshold();
  EXPECT_EQ(pool.statistics().reserved, 32 * kMiB);
  pool.TrimTo(0);
  EXPECT_EQ(pool.statistics().reserved, 0u);
}

TEST_F(PoolTest, RunsOutWithTheDevice) {
  EXPECT_NE(pool.Allocate(180 * kMiB), 0u) << "192 MiB reserved, 8 MiB context";
  EXPECT_EQ(pool.Allocate(20 * kMiB), 0u);
  EXPECT_EQ(pool.statistics().used, 180 * kMiB);
  EXPECT_NE(pool.Allocate(12 * kMiB), 0u);
}

}  // namespace
}  // namespace memoir::simcuda
