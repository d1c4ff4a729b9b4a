// The first line of a comparison.
#include "tools/view/compare/headline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tools/analyze/compare/comparison.h"
#include "tools/view/compare/change_text.h"

namespace memoir {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kMebibyte = 1 << 20;

Comparison CompareBytes(std::uint64_t a, std::uint64_t b, std::int64_t cause) {
  ComparedDevice device;
  device.name = "cuda:0";
  device.sides[0].emplace().held.bytes = a;
  device.sides[1].emplace().held.bytes = b;
  for (auto& side : device.sides) side->device.caching = true;
  device.cause.operator_name = "aten::relu";
  device.cause.bytes = cause;
  Comparison comparison;
  comparison.devices.push_back(device);
  return comparison;
}

TEST(Headline, NamesTheCause) {
  EXPECT_EQ(Headline(CompareBytes(40 * kMebibyte, 50 * kMebibyte, 8 * kMebibyte), "the peak"),
            "+10.0 MiB at the peak of cuda:0: aten::relu (+8.0 MiB)");
}

TEST(ChangeText, NamesTheFactorOfSeveralSizes) {
  ProgramChange change{.kind = ProgramChange::Kind::kSizes, .where = "encoder.*.weight", .a = "64", .b = "96"};
  change.count = 3;
  change.factor = 1.5;
  change.sizes = {{64, 96}};
  EXPECT_EQ(ChangeText(change), "a size of 64 is 96 now, in 3 parameters (encoder.*.weight)");
  change.sizes = {{32, 48}, {64, 96}};
  EXPECT_EQ(ChangeText(change), "sizes are 1.5 times as large in 3 parameters (encoder.*.weight)");
}

// A line is new, another one is gone, and little is left of both.
TEST(Headline, ASmallRestOfLargeChangesIsAboutAsMuch) {
  const std::string line = Headline(CompareBytes(40 * kMebibyte, 39 * kMebibyte, 20 * kMebibyte), "the peak");
  EXPECT_THAT(line, HasSubstr("about as many bytes at the peak of cuda:0"));
  EXPECT_THAT(line, HasSubstr("(39.0 MiB, -1.0 MiB), but aten::relu (+20.0 MiB), and about as many less elsewhere"));
}

TEST(Headline, SettingsOfTheAllocatorComeFirstIfTheProgramIsTheSame) {
  Comparison comparison = CompareBytes(40 * kMebibyte, 50 * kMebibyte, 8 * kMebibyte);
  comparison.unlike.push_back({"allocator's settings", "none recorded", "expandable_segments:True"});
  EXPECT_EQ(Headline(comparison, "the peak"),
            "+10.0 MiB at the peak of cuda:0: the allocator is set otherwise (none recorded, now "
            "expandable_segments:True); mainly aten::relu (+8.0 MiB)");
  comparison.changes.push_back({.kind = ProgramChange::Kind::kOptimizer, .a = "SGD", .b = "Adam"});
  EXPECT_THAT(Headline(comparison, "the peak"), HasSubstr("cuda:0: aten::relu"));
}

}  // namespace
}  // namespace memoir
