#include "tools/analyze/data_flow/tensor_extent.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace memoir {
namespace {

// Returns the bytes of an element of this dtype. 0 if the dtype is unknown.
std::uint64_t BytesOfElement(std::string_view dtype) {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 20> kBytes = {{
      {"float32", 4},   {"float16", 2},     {"bfloat16", 2}, {"float64", 8}, {"int64", 8},
      {"int32", 4},     {"int16", 2},       {"int8", 1},     {"uint8", 1},   {"bool", 1},
      {"complex64", 8}, {"complex128", 16}, {"uint16", 2},   {"uint32", 4},  {"uint64", 8},
      {"complex32", 4}, {"qint8", 1},       {"quint8", 1},   {"qint32", 4},  {"quint4x2", 1},
  }};
  if (dtype.starts_with("float8") || dtype.starts_with("float4")) return 1;
  const auto* known = std::ranges::find(kBytes, dtype, [](const auto& row) { return row.first; });
  return known == kBytes.end() ? 0 : known->second;
}

}  // namespace

std::uint64_t ExtentOf(const Layout& layout) {
  if (layout.shape_unknown || !layout.has_storage) return 0;
  std::int64_t most = layout.sizes.empty() ? 1 : 0;
  std::int64_t stride = 1;
  for (std::size_t i = layout.sizes.size(); i-- > 0;) {
    const std::int64_t own = layout.strides.size() == layout.sizes.size() ? layout.strides[i] : stride;
    most = std::max(most, layout.sizes[i] * own);
    stride *= std::max<std::int64_t>(layout.sizes[i], 1);
  }
  return static_cast<std::uint64_t>(most) * BytesOfElement(layout.dtype_name);
}

std::uint64_t LayoutExtents::FindExtent(LayoutId layout, const Dictionary& dictionary) {
  constexpr std::uint64_t kNotAsked = ~std::uint64_t{0};
  if (known_.size() <= layout.value) known_.resize(layout.value + 1, kNotAsked);
  std::uint64_t& extent = known_[layout.value];
  if (extent == kNotAsked) extent = ExtentOf(dictionary.layout(layout));
  return extent;
}

}  // namespace memoir
