// What a block of memory is, by Memoir's own rules: one of torch's categories or a buffer, and in some a closer word.
#ifndef TOOLS_ANALYZE_CATEGORIES_KEPT_AS_H_
#define TOOLS_ANALYZE_CATEGORIES_KEPT_AS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace memoir {

enum class KeptAs : std::uint8_t {
  kParameter,
  kBuffer,
  kOptimizerState,
  kInput,
  kTemporary,
  kActivation,
  kGradient,
  kAutogradDetail,
  kUnknown,
};
inline constexpr std::size_t kKeptAs = 9;

// "PARAMETER", as torch.profiler writes them; "BUFFER" is ours.
constexpr std::string_view NameOf(KeptAs kept) {
  constexpr std::array<std::string_view, kKeptAs> kNames = {"PARAMETER", "BUFFER",          "OPTIMIZER_STATE",
                                                            "INPUT",     "TEMPORARY",       "ACTIVATION",
                                                            "GRADIENT",  "AUTOGRAD_DETAIL", "UNKNOWN"};
  return kNames[static_cast<std::size_t>(kept)];
}

// "parameter", for people
constexpr std::string_view ToString(KeptAs kept) {
  constexpr std::array<std::string_view, kKeptAs> kTexts = {"parameter", "buffer",          "optimizer state",
                                                            "input",     "temporary",       "activation",
                                                            "gradient",  "autograd detail", "unknown"};
  return kTexts[static_cast<std::size_t>(kept)];
}

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_KEPT_AS_H_
