// The category of a block: torch.profiler's categories in the order of its exports, and Memoir's `buffer`.
#ifndef TOOLS_ANALYZE_CATEGORIES_CATEGORY_H_
#define TOOLS_ANALYZE_CATEGORIES_CATEGORY_H_

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
  kBuffer,  // only Memoir's rules use it
};
inline constexpr std::size_t kTorchCategories = 8;  // the number of torch.profiler's categories, which come first
inline constexpr std::size_t kCategories = 9;

// Returns the name that torch.profiler writes: "PARAMETER".
constexpr std::string_view NameOf(Category category) {
  constexpr std::array<std::string_view, kCategories> kNames = {"PARAMETER",       "OPTIMIZER_STATE", "INPUT",
                                                                "TEMPORARY",       "ACTIVATION",      "GRADIENT",
                                                                "AUTOGRAD_DETAIL", "UNKNOWN",         "BUFFER"};
  return kNames[static_cast<std::size_t>(category)];
}

// Returns the name that Memoir prints: "parameter".
constexpr std::string_view ToString(Category category) {
  constexpr std::array<std::string_view, kCategories> kTexts = {"parameter",       "optimizer state", "input",
                                                                "temporary",       "activation",      "gradient",
                                                                "autograd detail", "unknown",         "buffer"};
  return kTexts[static_cast<std::size_t>(category)];
}

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_CATEGORY_H_
