#include "tools/view/terminal/units.h"

#include "gtest/gtest.h"

namespace memoir {
namespace {

// The shortest that means the same instant; where the next change comes too soon, or is not known, all of it.
TEST(FormatAt, HasTheDecimalsThatItNeeds) {
  EXPECT_EQ(FormatAt(9'120'254'047, 9'130'000'000), "9.121s");
  EXPECT_EQ(FormatAt(9'120'254'047, 9'121'000'000), "9.1203s");
  EXPECT_EQ(FormatAt(9'120'254'047, 9'120'254'048), "9.120254047s");
  EXPECT_EQ(FormatAt(9'120'254'047, 0), "9.120254047s");
  EXPECT_EQ(FormatAt(9'120'000'000, 0), "9.120s");
  EXPECT_EQ(FormatAt(999'999'500, 1'000'100'000), "1.000s");
  EXPECT_EQ(FormatAt(0, 0), "0.000s");
  EXPECT_EQ(FormatAt(990, 0), "0.00000099s");
}

TEST(Units, Bytes) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1024), "1.0 KiB");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes((1u << 20) - 1), "1.0 MiB");  // not 1024.0 KiB
  EXPECT_EQ(FormatBytes(5ull << 30), "5.00 GiB");
  EXPECT_EQ(FormatBytes(162 * (1ull << 30) / 100), "1.62 GiB");
  EXPECT_EQ(FormatBytes(9995 * (1ull << 30) / 1000 + 1), "10.0 GiB");
  EXPECT_EQ(FormatBytes((1ull << 30) - 1), "1.00 GiB");  // not 1024.0 MiB
  EXPECT_EQ(FormatBytes(UINT64_MAX), "16.0 EiB");
}

TEST(Units, SignedBytes) {
  EXPECT_EQ(FormatSignedBytes(0), "0 B");
  EXPECT_EQ(FormatSignedBytes(2048), "+2.0 KiB");
  EXPECT_EQ(FormatSignedBytes(-3), "-3 B");
  EXPECT_EQ(FormatSignedBytes(INT64_MIN), "-8.00 EiB");
}

TEST(Units, Count) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1000), "1,000");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(FormatCount(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(Units, Share) {
  EXPECT_EQ(FormatShare(1, 3), "33.3%");
  EXPECT_EQ(FormatShare(0, 5), "0.0%");
  EXPECT_EQ(FormatShare(5, 5), "100.0%");
  EXPECT_EQ(FormatShare(0, 0), "-");
}

TEST(Units, Duration) {
  EXPECT_EQ(FormatDuration(999), "999 ns");
  EXPECT_EQ(FormatDuration(1500), "1.5 µs");
  EXPECT_EQ(FormatDuration(999'999), "1.0 ms");
  EXPECT_EQ(FormatDuration(2'500'000'000), "2.5 s");
  EXPECT_EQ(FormatDuration(65'000'000'000), "1 min 5 s");
  EXPECT_EQ(FormatDuration(3'660'000'000'000), "1 h 1 min");
}

}  // namespace
}  // namespace memoir
