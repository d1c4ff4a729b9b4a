#include "simcuda/collectives/reduction.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace memoir::simcuda {
namespace {

// Describes an element type: the type that stores an element, and the number type that computes with elements.
template <typename T>
struct Plain {
  using Stored = T;
  using Number = T;
  static Number Load(Stored value) { return value; }
  static Stored Store(Number value) { return value; }
};

// A float of 8 or 16 bits. `kSaturates`: values that are too large become kLargest, not infinity.
template <typename T, int kExponentBits, int kFractionBits, bool kSaturates, unsigned kLargest, unsigned kNan>
struct Small {
  using Stored = T;
  using Number = float;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr unsigned kSign = 1u << (kExponentBits + kFractionBits);
  static constexpr unsigned kInfinity = ((1u << kExponentBits) - 1) << kFractionBits;  // the largest exponent

  static Number Load(Stored value) {
    const unsigned magnitude = value & (kSign - 1);
    const float sign = (value & kSign) != 0 ? -1.0F : 1.0F;
    if (magnitude > kLargest)
      return magnitude == kInfinity && kLargest < kInfinity ? sign * std::numeric_limits<float>::infinity()
                                                            : std::numeric_limits<float>::quiet_NaN();
    const int exponent = static_cast<int>(magnitude >> kFractionBits);
    const unsigned fraction = magnitude & ((1u << kFractionBits) - 1);
    if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), 1 - kBias - kFractionBits);
    return sign * std::ldexp(static_cast<float>(fraction | 1u << kFractionBits), exponent - kBias - kFractionBits);
  }

  static Stored Store(Number value) {
    const unsigned sign = std::signbit(value) ? kSign : 0;
    if (std::isnan(value)) return static_cast<Stored>(sign | kNan);
    return static_cast<Stored>(sign | Magnitude(std::fabs(value)));
  }

 private:
  // Returns the bits of `value` without the sign, rounded to the nearest, ties to even. A fraction that rounds up to
  // the next power of two carries into the exponent.
  static unsigned Magnitude(float value) {
    constexpr unsigned kTooLarge = kSaturates ? kLargest : kInfinity;
    if (std::isinf(value)) return kTooLarge;
    if (value == 0) return 0;
    const int exponent = std::max(std::ilogb(value), 1 - kBias);
    const auto steps = static_cast<unsigned>(std::nearbyint(std::ldexp(value, kFractionBits - exponent)));
    if (exponent > kBias + 1) return kTooLarge;
    const unsigned bits = (static_cast<unsigned>(exponent + kBias - 1) << kFractionBits) + steps;
    return bits > kLargest ? kTooLarge : bits;
  }
};

using Half = Small<std::uint16_t, 5, 10, false, 0x7bff, 0x7e00>;
using Brain = Small<std::uint16_t, 8, 7, false, 0x7f7f, 0x7fc0>;
using Eight43 = Small<std::uint8_t, 4, 3, true, 0x7e, 0x7f>;
using Eight52 = Small<std::uint8_t, 5, 2, true, 0x7b, 0x7f>;

// Adds integers as unsigned, so that overflow is defined and wraps.
template <typename Number>
Number Add(Number a, Number b) {
  if constexpr (std::is_integral_v<Number>) {
    return static_cast<Number>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else {
    return a + b;
  }
}

template <typename Number>
Number Multiply(Number a, Number b) {
  if constexpr (std::is_integral_v<Number>) {
    return static_cast<Number>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else {
    return a * b;
  }
}

template <typename Number>
Number Combine(Number a, Number b, Reduction reduction) {
  switch (reduction) {
    case Reduction::kProduct:
      return Multiply(a, b);
    case Reduction::kMaximum:
      return std::max(a, b);
    case Reduction::kMinimum:
      return std::min(a, b);
    default:
      return Add(a, b);
  }
}

template <typename Number>
Number Power(Number base, std::size_t exponent) {
  Number result = 1;
  for (; exponent > 0; exponent /= 2, base = Multiply(base, base)) {
    if (exponent % 2 != 0) result = Multiply(result, base);
  }
  return result;
}

// Returns the result of combining `ranks` equal values.
template <typename Number>
Number OfEqual(Number value, std::size_t ranks, Reduction reduction) {
  if (reduction == Reduction::kSum) return Multiply(value, static_cast<Number>(ranks));
  if (reduction == Reduction::kProduct) return Power(value, ranks);
  return value;
}

template <typename Type>
typename Type::Number LoadAt(const char* part, std::size_t index) {
  typename Type::Stored stored;
  std::memcpy(&stored, part + index * sizeof stored, sizeof stored);
  return Type::Load(stored);
}

template <typename Type>
void ReduceAs(const RankParts& parts, std::size_t offset, std::size_t count, const ReduceOperation& operation,
              char* out) {
  using Number = typename Type::Number;
  const auto scale = static_cast<Number>(operation.scale);
  const auto load = [&](std::size_t rank, std::size_t index) {
    const Number value = LoadAt<Type>(parts[rank] + offset, index);
    return operation.scaled ? Multiply(value, scale) : value;
  };
  for (std::size_t index = 0; index < count; ++index) {
    Number result = load(0, index);
    if (parts.same) {
      result = OfEqual(result, parts.ranks(), operation.reduction);
    } else {
      for (std::size_t rank = 1; rank < parts.ranks(); ++rank)
        result = Combine(result, load(rank, index), operation.reduction);
      if (operation.reduction == Reduction::kAverage)
        result = static_cast<Number>(result / static_cast<Number>(parts.ranks()));
    }
    const typename Type::Stored stored = Type::Store(result);
    std::memcpy(out + index * sizeof stored, &stored, sizeof stored);
  }
}

// Calls `use` with the description of the type `element`.
template <typename Use>
auto WithType(ElementType element, Use use) {
  switch (element) {
    case ElementType::kInt8:
      return use(Plain<std::int8_t>());
    case ElementType::kUint8:
      return use(Plain<std::uint8_t>());
    case ElementType::kInt32:
      return use(Plain<std::int32_t>());
    case ElementType::kUint32:
      return use(Plain<std::uint32_t>());
    case ElementType::kInt64:
      return use(Plain<std::int64_t>());
    case ElementType::kUint64:
      return use(Plain<std::uint64_t>());
    case ElementType::kFloat16:
      return use(Half());
    case ElementType::kFloat32:
      return use(Plain<float>());
    case ElementType::kBfloat16:
      return use(Brain());
    case ElementType::kFloat8E4M3:
      return use(Eight43());
    case ElementType::kFloat8E5M2:
      return use(Eight52());
    case ElementType::kFloat64:
      break;
  }
  return use(Plain<double>());
}

}  // namespace

std::size_t BytesOf(ElementType element) {
  return WithType(element, [](auto type) { return sizeof(typename decltype(type)::Stored); });
}

void Reduce(const RankParts& parts, std::size_t offset, ElementType element, std::size_t count,
            const ReduceOperation& operation, char* out) {
  WithType(element, [&](auto type) { ReduceAs<decltype(type)>(parts, offset, count, operation, out); });
}

double ReadElement(const void* from, ElementType element) {
  return WithType(element, [&](auto type) {
    return static_cast<double>(LoadAt<decltype(type)>(static_cast<const char*>(from), 0));
  });
}

}  // namespace memoir::simcuda
