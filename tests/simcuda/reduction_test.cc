// Reductions of collectives: every type, every operation, with the bits that the types' definitions give.
#include "simcuda/collectives/reduction.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace memoir::simcuda {
namespace {

constexpr Reduction kAll[] = {Reduction::kSum, Reduction::kProduct, Reduction::kMaximum, Reduction::kMinimum,
                              Reduction::kAverage};

// Small floats by their bits, others by value.
template <typename T>
T ReduceTwo(ElementType element, T first, T second, ReduceOperation operation) {
  RankParts parts;
  parts.of = {reinterpret_cast<const char*>(&first), reinterpret_cast<const char*>(&second)};
  T out{};
  Reduce(parts, 0, element, 1, operation, reinterpret_cast<char*>(&out));
  return out;
}

template <typename T>
T ReduceThree(ElementType element, std::vector<T> values, Reduction reduction) {
  RankParts parts;
  for (const T& value : values) parts.of.push_back(reinterpret_cast<const char*>(&value));
  T out{};
  Reduce(parts, 0, element, 1, {.reduction = reduction}, reinterpret_cast<char*>(&out));
  return out;
}

// 1, 2 and 3 come to 6, 6, 3, 1 and 2: in every type exactly.
template <typename T>
void ExpectAll(ElementType element, std::vector<T> one_to_three, T six) {
  EXPECT_EQ(BytesOf(element), sizeof(T));
  const T expected[] = {six, six, one_to_three[2], one_to_three[0], one_to_three[1]};
  for (int i = 0; i < kReductions; ++i)
    EXPECT_EQ(ReduceThree(element, one_to_three, kAll[i]), expected[i]) << static_cast<int>(element) << ' ' << i;
}

TEST(Reduction, EveryTypeAndOperation) {
  ExpectAll<std::int8_t>(ElementType::kInt8, {1, 2, 3}, 6);
  ExpectAll<std::uint8_t>(ElementType::kUint8, {1, 2, 3}, 6);
  ExpectAll<std::int32_t>(ElementType::kInt32, {1, 2, 3}, 6);
  ExpectAll<std::uint32_t>(ElementType::kUint32, {1, 2, 3}, 6);
  ExpectAll<std::int64_t>(ElementType::kInt64, {1, 2, 3}, 6);
  ExpectAll<std::uint64_t>(ElementType::kUint64, {1, 2, 3}, 6);
  ExpectAll<float>(ElementType::kFloat32, {1, 2, 3}, 6);
  ExpectAll<double>(ElementType::kFloat64, {1, 2, 3}, 6);
  ExpectAll<std::uint16_t>(ElementType::kFloat16, {0x3c00, 0x4000, 0x4200}, 0x4600);
  ExpectAll<std::uint16_t>(ElementType::kBfloat16, {0x3f80, 0x4000, 0x4040}, 0x40c0);
  ExpectAll<std::uint8_t>(ElementType::kFloat8E4M3, {0x38, 0x40, 0x44}, 0x4c);
  ExpectAll<std::uint8_t>(ElementType::kFloat8E5M2, {0x3c, 0x40, 0x42}, 0x46);
}

TEST(Reduction, PartsAreScaledBefore) {
  EXPECT_EQ(ReduceTwo<float>(ElementType::kFloat32, 3, 5, {.scaled = true, .scale = 0.5}), 4);
  EXPECT_EQ(ReduceTwo<std::uint16_t>(ElementType::kFloat16, 0x3c00, 0x4000, {.scaled = true, .scale = 2}), 0x4600);
  const double scale = 0.25;
  EXPECT_EQ(ReadElement(&scale, ElementType::kFloat64), 0.25);
  const std::uint8_t eighth = 0x20;  // 2^-3
  EXPECT_EQ(ReadElement(&eighth, ElementType::kFloat8E4M3), 0.125);
}

TEST(Reduction, IntegersWrap) {
  EXPECT_EQ(ReduceTwo<std::int8_t>(ElementType::kInt8, 127, 1, {}), -128);
  EXPECT_EQ(ReduceTwo<std::int64_t>(ElementType::kInt64, std::numeric_limits<std::int64_t>::max(), 1, {}),
            std::numeric_limits<std::int64_t>::min());
}

// Each value of each small type is read and written back as it was; all but NaN, whose bits may differ.
template <typename T>
void ExpectAllBitsKept(ElementType element, unsigned values) {
  for (unsigned bits = 0; bits < values; ++bits) {
    const T value = static_cast<T>(bits);
    RankParts parts;
    parts.of = {reinterpret_cast<const char*>(&value)};
    T out{};
    Reduce(parts, 0, element, 1, {}, reinterpret_cast<char*>(&out));
    const double number = ReadElement(&value, element);
    if (std::isnan(number)) {
      EXPECT_TRUE(std::isnan(ReadElement(&out, element))) << bits;
    } else if (!std::isinf(number) || element == ElementType::kFloat16 || element == ElementType::kBfloat16) {
      ASSERT_EQ(out, value) << bits;
    }
  }
}

TEST(Reduction, SmallFloatsComeBack) {
  ExpectAllBitsKept<std::uint16_t>(ElementType::kFloat16, 1 << 16);
  ExpectAllBitsKept<std::uint16_t>(ElementType::kBfloat16, 1 << 16);
  ExpectAllBitsKept<std::uint8_t>(ElementType::kFloat8E4M3, 1 << 8);
  ExpectAllBitsKept<std::uint8_t>(ElementType::kFloat8E5M2, 1 << 8);
}

TEST(Reduction, SmallFloatsRoundToEvenAndOverflow) {
  // 2048 + 1 lies between 2048 and 2050 in half.
  EXPECT_EQ(ReduceTwo<std::uint16_t>(ElementType::kFloat16, 0x6800, 0x3c00, {}), 0x6800);
  EXPECT_EQ(ReduceTwo<std::uint16_t>(ElementType::kFloat16, 0x6801, 0x3c00, {}), 0x6802);
  EXPECT_EQ(ReduceTwo<std::uint16_t>(ElementType::kFloat16, 0x7bff, 0x7bff, {}), 0x7c00) << "infinity";
  EXPECT_EQ(ReduceTwo<std::uint8_t>(ElementType::kFloat8E4M3, 0x7e, 0x7e, {}), 0x7e) << "the largest, 448";
  EXPECT_EQ(ReduceTwo<std::uint8_t>(ElementType::kFloat8E5M2, 0xfb, 0xfb, {}), 0xfb) << "-57344";
  EXPECT_EQ(ReduceTwo<std::uint16_t>(ElementType::kFloat16, 0x0001, 0x0001, {}), 0x0002) << "subnormal";
}

TEST(Reduction, OfEqualPartsIsAsOfMany) {
  for (const Reduction reduction : kAll) {
    const float value = 1.5;
    const std::int32_t whole = 3;
    RankParts same, each;
    same.same = true;
    RankParts same_whole = same, each_whole;
    for (int rank = 0; rank < 5; ++rank) {
      each.of.push_back(reinterpret_cast<const char*>(&value));
      each_whole.of.push_back(reinterpret_cast<const char*>(&whole));
    }
    same.of = each.of;
    same_whole.of = each_whole.of;
    float one = 0, many = 0;
    Reduce(same, 0, ElementType::kFloat32, 1, {.reduction = reduction}, reinterpret_cast<char*>(&one));
    Reduce(each, 0, ElementType::kFloat32, 1, {.reduction = reduction}, reinterpret_cast<char*>(&many));
    EXPECT_EQ(one, many);
    std::int32_t one_whole = 0, many_whole = 0;
    Reduce(same_whole, 0, ElementType::kInt32, 1, {.reduction = reduction}, reinterpret_cast<char*>(&one_whole));
    Reduce(each_whole, 0, ElementType::kInt32, 1, {.reduction = reduction}, reinterpret_cast<char*>(&many_whole));
    EXPECT_EQ(one_whole, many_whole);
  }
}

}  // namespace
}  // namespace memoir::simcuda
