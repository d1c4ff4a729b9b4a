// Contents of device memory: small copies come back, everything else reads as zero, and the kept bytes stay bounded.
#include "simcuda/contents/contents.h"

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "simcuda/addresses/address_space.h"
#include "simcuda/contents/copy_answers.h"

namespace memoir::simcuda {
namespace {

constexpr std::uint64_t kRegion = 64u << 20;

class ContentsTest : public testing::Test {
 protected:
  explicit ContentsTest(std::uint64_t most_kept = Contents::kMostKept) : contents(most_kept) {
    space.Reserve(0, kRegion, kRegion);
    contents.AddRegion(space.base(), space.size());
  }
  char* At(std::uint64_t offset) { return reinterpret_cast<char*>(space.base() + offset); }
  std::string Read(std::uint64_t offset, std::size_t bytes) {
    std::string text(bytes, 'x');
    contents.Copy(text.data(), At(offset), bytes);
    return text;
  }

  AddressSpace space;
  Contents contents;
};

TEST_F(ContentsTest, NeverWrittenReadsAsZeroAndKeepsNothing) {
  EXPECT_EQ(Read(12345, 100), std::string(100, '\0'));
  EXPECT_EQ(Read(0, 8 << 20), std::string(8 << 20, '\0'));
  EXPECT_EQ(contents.kept_bytes(), 0u);
}

TEST_F(ContentsTest, SmallCopiesComeBack) {
  contents.Copy(At(5000), "hello", 5);
  contents.Copy(At(60000), At(5000), 5);
  EXPECT_EQ(Read(60000, 5), "hello");
  EXPECT_EQ(Read(5000, 6), std::string("hello\0", 6));
}

TEST_F(ContentsTest, LargeCopiesAreDroppedWithWhatWasThere) {
  contents.Copy(At(4096), "old", 3);
  const std::string large(Contents::kLargestKept + 1, 'x');
  contents.Copy(At(0), large.data(), large.size());
  EXPECT_EQ(Read(4096, 3), std::string(3, '\0'));
  EXPECT_EQ(contents.dropped_copies(), 1u);
  EXPECT_EQ(contents.kept_bytes(), 0u);
}

TEST_F(ContentsTest, ForgettingAPartLeavesTheRestOfItsPages) {
  const std::string text(3 * 4096, 'a');
  contents.Copy(At(0), text.data(), text.size());
  contents.MarkUnknown(space.base() + 4000, 4400);
  EXPECT_EQ(Read(0, text.size()), std::string(4000, 'a') + std::string(4400, '\0') + std::string(3 * 4096 - 8400, 'a'));
  EXPECT_EQ(contents.kept_bytes(), 2 * 4096u);
}

TEST_F(ContentsTest, FillsAreKeptAndZeroGivesBack) {
  contents.Fill(At(0), 7, 8192);
  EXPECT_EQ(Read(8000, 192), std::string(192, '\7'));
  EXPECT_EQ(contents.kept_bytes(), 8192u);
  contents.Fill(At(0), 0, 8192);
  EXPECT_EQ(contents.kept_bytes(), 0u);
  EXPECT_EQ(Read(0, 8192), std::string(8192, '\0'));
}

TEST_F(ContentsTest, CopyingZerosKeepsNothing) {
  contents.Copy(At(0), "x", 1);
  contents.Copy(At(0), At(1 << 20), 4096);
  EXPECT_EQ(contents.kept_bytes(), 0u);
}

TEST_F(ContentsTest, HostToHostIsACopyOfAnySize) {
  const std::string from(4 << 20, 'h');
  std::string to(from.size(), ' ');
  contents.Copy(to.data(), from.data(), from.size());
  EXPECT_EQ(to, from);
}

TEST_F(ContentsTest, SaysWhenTheHostReadsWhatNobodyKnows) {
  std::uint64_t number = 7;
  EXPECT_FALSE(contents.Copy(&number, At(0), sizeof number));
  EXPECT_EQ(number, 0u);
  EXPECT_TRUE(contents.Copy(At(64), At(0), sizeof number));  // no kernel on the device reads it
  EXPECT_FALSE(contents.Copy(&number, At(64), sizeof number));
  ExchangeAnswers({{5}, 1, 0});
  EXPECT_TRUE(contents.Copy(&number, At(64), sizeof number));
  ExchangeAnswers({});
  EXPECT_EQ(number, 5u);
  contents.Fill(At(0), 0, sizeof number);
  EXPECT_TRUE(contents.Copy(&number, At(0), sizeof number));
}

TEST_F(ContentsTest, KnowsWhatWasWritten) {
  const auto known = [&](std::uint64_t offset, std::uint64_t bytes) {
    return contents.IsKnown(space.base() + offset, bytes);
  };
  EXPECT_FALSE(known(0, 1));
  contents.Copy(At(100), "hello", 5);
  EXPECT_TRUE(known(100, 5));
  EXPECT_FALSE(known(100, 6));
  contents.Copy(At(5000), At(100), 5);
  EXPECT_TRUE(known(5000, 5)) << "a copy within the device";
  contents.Copy(At(5000), At(9000), 5);
  EXPECT_FALSE(known(5000, 5)) << "of something unknown";
  contents.Fill(At(0), 0, 8 << 20);
  EXPECT_TRUE(known(0, 8 << 20)) << "zeros of any size";
  EXPECT_EQ(contents.kept_bytes(), 0u);
  contents.MarkUnknown(space.base() + 4096, 10);
  EXPECT_FALSE(known(4090, 20));
  const std::string large(Contents::kLargestKept + 1, 'x');
  contents.Copy(At(0), large.data(), large.size());
  EXPECT_FALSE(known(0, 100)) << "dropped";
  ASSERT_TRUE(contents.MarkKnown(space.base() + 200, 8));
  std::memset(At(200), 1, 8);
  EXPECT_TRUE(known(200, 8));
  EXPECT_EQ(Read(200, 8), std::string(8, '\1'));
  EXPECT_EQ(contents.kept_bytes(), 4096u);
}

TEST_F(ContentsTest, UnknownCountsAreAnswered) {
  contents.Copy(At(0), "12345678", 8);
  const CopyAnswers before = ExchangeAnswers({{7, 9, 0, 0}, 2, 0});
  EXPECT_EQ(before.count, 0u);
  EXPECT_EQ(Read(0, 8), "12345678") << "known";
  EXPECT_EQ(Read(4096, 8), std::string("\7\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(Read(4096, 3), std::string(3, '\0')) << "no integer";
  EXPECT_EQ(Read(4096, 4), std::string("\t\0\0\0", 4));
  EXPECT_EQ(Read(4096, 1), "\t") << "the last for all that follow";
  ExchangeAnswers(before);
  EXPECT_EQ(Read(4096, 8), std::string(8, '\0'));
}

class SmallContentsTest : public ContentsTest {
 protected:
  SmallContentsTest() : ContentsTest(16 * 4096) {}
};

TEST_F(SmallContentsTest, WhatIsKeptIsBounded) {
  const std::string page(4096, 'p');
  for (std::uint64_t i = 0; i < 100; ++i) contents.Copy(At(i * 8192), page.data(), page.size());
  EXPECT_EQ(contents.kept_bytes(), 16 * 4096u);
  EXPECT_EQ(contents.dropped_copies(), 84u);
  EXPECT_EQ(Read(99 * 8192, 1), std::string(1, '\0'));
  EXPECT_FALSE(contents.MarkKnown(space.base() + 99 * 8192, 1)) << "no room, so nobody may write there";
  contents.MarkUnknown(space.base(), kRegion);
  contents.Copy(At(0), page.data(), page.size());
  EXPECT_EQ(Read(0, 4096), page);
}

// Random copies, fills and forgets against an array that does the same.
TEST_F(ContentsTest, AsAnArrayWouldHoldIt) {
  constexpr std::size_t kBytes = 64 * 4096;
  std::string model(kBytes, '\0');
  std::mt19937 random(17);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  for (int i = 0; i < 2000; ++i) {
    const std::size_t bytes = 1 + below(20000), from = below(kBytes - bytes), to = below(kBytes - bytes);
    switch (below(4)) {
      case 0: {
        const std::string fresh(bytes, static_cast<char>(1 + below(100)));
        contents.Copy(At(to), fresh.data(), bytes);
        model.replace(to, bytes, fresh);
        break;
      }
      case 1:
        contents.Copy(At(to), At(from), bytes);
        std::memmove(model.data() + to, model.data() + from, bytes);
        break;
      case 2:
        contents.Fill(At(to), 9, bytes);
        model.replace(to, bytes, bytes, '\t');
        break;
      default:
        contents.MarkUnknown(space.base() + to, bytes);
        model.replace(to, bytes, bytes, '\0');
    }
    ASSERT_EQ(Read(0, kBytes), model) << i;
    ASSERT_LE(contents.kept_bytes(), kBytes);
  }
}

}  // namespace
}  // namespace memoir::simcuda
