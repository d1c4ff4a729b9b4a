// The interpreters that the reader of frames knows, and its messages for others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tracker/stacks/frame_layout.h"

namespace memoir {
namespace {

using testing::HasSubstr;

struct Found {
  bool ok;
  FrameLayout layout;
  std::string problem;
};

Found Find(std::uint32_t version, const void* runtime) {
  Found found{};
  char problem[256] = "";
  found.ok = LayoutOf(version, runtime, &found.layout, problem, sizeof problem);
  found.problem = problem;
  return found;
}

// As 3.13.5 says it, as far as it is looked at.
std::vector<std::uint64_t> Offsets313() {
  std::vector<std::uint64_t> words(80, 8);
  std::memcpy(words.data(), "xdebugpy", 8);
  words[1] = 0x030d05f0;
  words[2] = 0;
  words[23] = 72;                                                // current_frame
  words[29] = 8, words[30] = 0, words[31] = 56, words[33] = 70;  // in a frame
  words[35] = 112, words[37] = 128, words[38] = 136, words[39] = 68, words[43] = 200;
  return words;
}

TEST(FrameLayout, KnowsTheVersionsBefore313) {
  for (const std::uint32_t minor : {10u, 11u, 12u})
    EXPECT_TRUE(Find(3u << 24 | minor << 16 | 0x9f0, nullptr).ok) << minor;
  EXPECT_TRUE(Find(0x030a0000, nullptr).layout.lines_in_pairs);
  EXPECT_FALSE(Find(0x030b0000, nullptr).layout.lines_in_pairs);
}

TEST(FrameLayout, AsksNewerOnes) {
  std::vector<std::uint64_t> words = Offsets313();
  const Found found = Find(0x030d07f0, words.data());
  ASSERT_TRUE(found.ok) << found.problem;
  EXPECT_EQ(found.layout.frame, 72);
  EXPECT_EQ(found.layout.owner, 70);
  EXPECT_EQ(found.layout.instructions, 200);
  words[43] = 208;
  EXPECT_EQ(Find(0x030d07f0, words.data()).layout.instructions, 208) << "what it says counts";
}

TEST(FrameLayout, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(Find(0x03090000, nullptr).problem, HasSubstr("Python 3.9.0: frames can be read in 3.10 to 3.14"));
  EXPECT_THAT(Find(0x030f01f0, Offsets313().data()).problem, HasSubstr("Python 3.15.1: "));
  EXPECT_THAT(Find(0x030d0000, nullptr).problem, HasSubstr("does not publish"));
  std::vector<std::uint64_t> words = Offsets313();
  words[0] = 0;
  EXPECT_THAT(Find(0x030d0000, words.data()).problem, HasSubstr("does not publish"));
  words = Offsets313();
  words[1] = 0x030e00f0;
  EXPECT_THAT(Find(0x030d0000, words.data()).problem, HasSubstr("another version"));
  words = Offsets313();
  words[2] = 1;
  EXPECT_THAT(Find(0x030d0000, words.data()).problem, HasSubstr("free-threaded"));
  words = Offsets313();
  words[31] = 1u << 20;
  EXPECT_THAT(Find(0x030d0000, words.data()).problem, HasSubstr("cannot be"));
}

TEST(FrameLayout, WithoutAnInterpreterThereIsNothingToSay) {
  char problem[256] = "x";
  EXPECT_EQ(FindFrameLayout(problem, sizeof problem), nullptr);
  EXPECT_STREQ(problem, "");
}

}  // namespace
}  // namespace memoir
