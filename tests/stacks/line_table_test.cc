// Line tables by themselves. That they give the lines that Python gives is frames_as_python_says.py's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "tracker/stacks/line_table.h"

namespace memoir {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::vector<std::uint32_t> Lines(std::uint32_t (*line)(const std::uint8_t*, std::size_t, std::int32_t, std::uint32_t),
                                 const Bytes& table, std::int32_t first, std::uint32_t instructions) {
  std::vector<std::uint32_t> lines;
  for (std::uint32_t at = 0; at < instructions * 2; at += 2)
    lines.push_back(line(table.data(), table.size(), first, at));
  return lines;
}

TEST(LineTable, PairsOf310) {
  // Two instructions of line 10, one of 12, one of none, one of 12 still, one of 9.
  const Bytes table = {4, 0, 2, 2, 2, 0x80, 2, 0, 2, 0xfd};
  EXPECT_THAT(Lines(LineInPairs, table, 10, 7), testing::ElementsAre(10, 10, 12, 0, 12, 9, 0));
}

TEST(LineTable, LocationsOf311) {
  const Bytes table = {
      0x80 | 0 << 3 | 1,  0x12,                 // short form, two instructions: line 10
      0x80 | 12 << 3 | 0, 4,    9,              // one line form: two lines on
      0x80 | 15 << 3 | 0,                       // no location
      0x80 | 13 << 3 | 0, 0x03,                 // no columns: a line back
      0x80 | 14 << 3 | 0, 0x4c, 0x06, 0, 1, 1,  // long form: 6 * 64 + 12 halved, 198 lines on
  };
  EXPECT_THAT(Lines(LineInLocations, table, 10, 7), testing::ElementsAre(10, 10, 12, 0, 11, 209, 0));
}

TEST(LineTable, ReadsNoFurtherThanTheTable) {
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    const std::size_t size = random() % 20;
    const auto table = std::make_unique<std::uint8_t[]>(size);  // of exactly this size, for the sanitizer
    for (std::size_t i = 0; i < size; ++i) table[i] = static_cast<std::uint8_t>(random());
    const auto first = static_cast<std::int32_t>(random());
    const std::uint32_t instruction =
        random() % 3 == 0 ? static_cast<std::uint32_t>(random()) : static_cast<std::uint32_t>(random() % 40);
    for (const auto line : {LineInPairs, LineInLocations})
      EXPECT_LE(line(table.get(), size, first, instruction), INT32_MAX);
  }
}

}  // namespace
}  // namespace memoir
