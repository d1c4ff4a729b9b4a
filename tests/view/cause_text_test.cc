// The sentence that says why memory ran out.
#include "tools/view/oom/cause_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memoir {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::uint64_t kMiB = 1 << 20;

// 1,000 MiB reserved, 988 allocated, of which the line of a cache has 888; 16 MiB were asked for.
OutOfMemory Full(std::uint64_t device_free) {
  OutOfMemory error;
  error.asked_bytes = 16 * kMiB;
  error.allocated_bytes = error.active_bytes = 988 * kMiB;
  error.reserved_bytes = 1000 * kMiB;
  error.device_free = device_free;
  error.room.free = error.room.own_free = error.room.largest_hole = 12 * kMiB;
  error.room.own_holes = 1;
  CategoryNumber input = 0;
  while (LabelOfCategory(input) != "input") ++input;
  error.by_line.push_back({{"/src/me/serve.py", "Cache.__init__", 31}, "", input, 888 * kMiB, 64});
  return error;
}

TEST(Why, FullNamesTheLargestHolderFirst) {
  EXPECT_EQ(OutOfMemoryCauseText(Full(2 * kMiB), 3),
            "FULL: serve.py:31 holds most, 888.0 MiB (input) of 988.0 MiB allocated. 2.0 MiB lacking, even with all "
            "that torch (12.0 MiB) and the device (2.0 MiB) had free. No fragmentation: its pool and stream have 12.0 "
            "MiB free in 1 hole, the largest 12.0 MiB.");
}

TEST(Why, PiecesOfAFullDeviceAreNotTheCause) {
  EXPECT_EQ(OutOfMemoryCauseText(Full(5 * kMiB), 3),
            "FULL: serve.py:31 holds most, 888.0 MiB (input) of 988.0 MiB allocated. Only small pieces were free: 12.0 "
            "MiB of torch's 1000.0 MiB reserved and 5.0 MiB of the device.");
}

TEST(Why, FullOfSomethingElse) {
  OutOfMemory error = Full(2 * kMiB);
  error.device_total = 8000 * kMiB;
  error.other_processes = 6000 * kMiB;
  EXPECT_THAT(OutOfMemoryCauseText(error, 3), StartsWith("FULL: other processes hold 5.86 GiB of 7.81 GiB. "));
  error.by_line.front().line = {};
  error.by_line.front().operator_name = "aten::zeros";
  error.other_processes.reset();
  EXPECT_THAT(OutOfMemoryCauseText(error, 3), HasSubstr("FULL: aten::zeros holds most, "));
}

}  // namespace
}  // namespace memoir
