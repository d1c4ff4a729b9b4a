// The categories of memory, as torch.profiler names them and in the order of its exports.
#ifndef TOOLS_ANALYZE_TORCH_PROFILER_CATEGORY_H_
#define TOOLS_ANALYZE_TORCH_PROFILER_CATEGORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace memoir {

enum class Category : std::uint8_t {
  kParameter,
  kOptimizerState,
  kInput,
  kTemporary,
  kActivation,
  kGradient,
  kAutogradDetail,
  kUnknown,
};
inline constexpr std::size_t kCategories = 8;

// "PARAMETER", ..., "UNKNOWN"
constexpr std::string_view NameOf(Category category) {
  constexpr std::array<std::string_view, kCategories> kNames = {
      "PARAMETER", "OPTIMIZER_STATE", "INPUT", "TEMPORARY", "ACTIVATION", "GRADIENT", "AUTOGRAD_DETAIL", "UNKNOWN"};
  return kNames[static_cast<std::size_t>(category)];
}

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TORCH_PROFILER_CATEGORY_H_
