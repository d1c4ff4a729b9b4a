// The writer's table of Python stacks alone. round_trip_test.cc reads its definitions back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "memoir/v1/capture.pb.h"
#include "tests/writer/recording.h"
#include "tracker/writer/dictionaries/stack_table.h"

namespace memoir::test {
namespace {

using Frames = std::vector<StackFrame>;
using Lines = std::vector<std::uint32_t>;  // of a stack, outermost first

struct Table {
  explicit Table(std::size_t most = kMaxStacks)
      : stacks(
            [this](auto users, const auto& use) {
              std::ranges::for_each(threads, use);
              if (users == StackTable::Users::kThreadsAndBlocks) std::ranges::for_each(blocks, use);
            },
            most) {}

  std::uint32_t Replace(std::uint32_t stack, std::size_t kept, const Lines& lines) {
    Frames frames;
    for (const std::uint32_t line : lines) frames.push_back({1, line});
    return stacks.Replace(stack, kept, frames);
  }

  std::vector<std::uint32_t> threads, blocks;  // what they have
  StackTable stacks;
};

// The definitions of a payload, by id.
std::map<std::uint32_t, Lines> Defined(const std::string& bytes) {
  v1::Payload payload;
  EXPECT_TRUE(payload.ParseFromString(bytes));
  std::map<std::uint32_t, Lines> stacks;
  for (const v1::StackDef& def : payload.stacks()) {
    EXPECT_TRUE(def.parent() == 0 || stacks.contains(def.parent())) << "a parent is defined before its children";
    EXPECT_FALSE(stacks.contains(def.id()));
    Lines lines = def.parent() == 0 ? Lines() : stacks[def.parent()];
    lines.push_back(def.line());
    stacks[def.id()] = lines;
  }
  return stacks;
}

class StackTableTest : public ::testing::Test {
 protected:
  Recording recording_;
  std::unique_ptr<RingReader> reader_{RingReader::OpenLive()};
  Names names_{*reader_, [](auto*) {}};
};

TEST_F(StackTableTest, StacksThatBeginAlikeShareThat) {
  Table table;
  const std::uint32_t first = table.Replace(0, 0, {10, 20, 30});
  const std::uint32_t second = table.Replace(first, 2, {31});
  EXPECT_EQ(table.stacks.size(), 4u);
  EXPECT_EQ(table.Replace(second, 2, {30}), first);
  EXPECT_EQ(table.Replace(0, 0, {10, 20, 31}), second);
  EXPECT_EQ(table.Replace(first, 0, {}), 0u) << "no frame";

  std::string payload;
  EXPECT_TRUE(table.stacks.Define(first, 1, names_, &payload));
  EXPECT_TRUE(table.stacks.Define(second, 1, names_, &payload));
  EXPECT_TRUE(table.stacks.Define(second, 1, names_, &payload)) << "said once in a part";
  const std::map<std::uint32_t, Lines> defined = Defined(payload);
  EXPECT_EQ(defined.size(), 4u);
  EXPECT_THAT(defined.at(first), ::testing::ElementsAre(10, 20, 30));
  EXPECT_THAT(defined.at(second), ::testing::ElementsAre(10, 20, 31));

  payload.clear();
  EXPECT_TRUE(table.stacks.Define(second, 2, names_, &payload)) << "another part needs all of it again";
  EXPECT_EQ(Defined(payload).size(), 3u);
}

TEST_F(StackTableTest, KeepsNoFramesThatItDoesNotKnow) {
  Table table;
  EXPECT_EQ(table.Replace(0, 3, {40}), 0u);
  EXPECT_EQ(table.Replace(table.Replace(0, 0, {10}), 3, {40}), 0u);
  EXPECT_EQ(table.Replace(77, 1, {40}), 0u);
}

TEST_F(StackTableTest, ForgetsWhatNothingNeeds) {
  Table table(100);
  const std::uint32_t kept = table.Replace(0, 0, {1, 2, 3});
  table.blocks = {kept};
  std::vector<std::uint32_t> others;
  for (std::uint32_t line = 10; line < 300; ++line) others.push_back(table.Replace(kept, 2, {line}));
  EXPECT_LE(table.stacks.size(), 100u);
  EXPECT_TRUE(table.stacks.Contains(kept));
  EXPECT_FALSE(table.stacks.Contains(others.front()));
  EXPECT_TRUE(table.stacks.Contains(others.back()));
  std::string payload;
  EXPECT_FALSE(table.stacks.Define(others.front(), 1, names_, &payload));
  EXPECT_TRUE(table.stacks.Define(kept, 1, names_, &payload));
  EXPECT_TRUE(table.stacks.Define(others.back(), 1, names_, &payload));
  EXPECT_THAT(Defined(payload).at(kept), ::testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(Defined(payload).at(others.back()), ::testing::ElementsAre(1, 2, 299));
}

TEST_F(StackTableTest, WhereBlocksNeedMoreThanThereIsThreadsGoOn) {
  Table table(100);
  std::uint32_t stack = table.Replace(0, 0, {1, 2, 3});
  const std::uint32_t other = table.Replace(0, 0, {7, 8});
  for (std::uint32_t line = 10; line < 300; ++line) {
    table.threads = {stack, other};
    stack = table.Replace(stack, 2, {line});
    ASSERT_NE(stack, 0u) << line;
    table.blocks.push_back(stack);
    ASSERT_LE(table.stacks.size(), 100u);
  }
  std::string payload;
  EXPECT_TRUE(table.stacks.Define(stack, 1, names_, &payload));
  EXPECT_THAT(Defined(payload).at(stack), ::testing::ElementsAre(1, 2, 299));
  EXPECT_TRUE(table.stacks.Contains(other));
  EXPECT_FALSE(table.stacks.Contains(table.blocks.front()));
}

// Against a map from id to lines, with random programs that call and return.
TEST_F(StackTableTest, EqualsAMap) {
  Table table(200);
  std::mt19937_64 random(7);
  std::map<std::uint32_t, Lines> expected;
  std::uint32_t stack = 0;
  Lines lines;
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t kept = random() % (lines.size() + 1);
    lines.resize(kept);
    Lines added;
    while (kept + added.size() < 12 && random() % 3 != 0) added.push_back(static_cast<std::uint32_t>(random() % 9));
    lines.insert(lines.end(), added.begin(), added.end());
    stack = table.Replace(stack, kept, added);
    table.threads = {stack};
    ASSERT_EQ(stack == 0, lines.empty());
    if (stack == 0) continue;
    const auto [known, is_new] = expected.try_emplace(stack, lines);
    ASSERT_EQ(known->second, lines) << "an id means one thing";
  }
  std::string payload;
  EXPECT_TRUE(table.stacks.Define(stack, 1, names_, &payload));
  if (stack != 0) {
    EXPECT_EQ(Defined(payload).at(stack), lines);
  }
}

}  // namespace
}  // namespace memoir::test
