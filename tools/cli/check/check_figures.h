// The figures that `memoir check --fail-if` compares: their values in a capture, or why they are unknown.
#ifndef TOOLS_CLI_CHECK_CHECK_FIGURES_H_
#define TOOLS_CLI_CHECK_CHECK_FIGURES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/analyze/accounting/balance.h"
#include "tools/analyze/segments/fragmentation.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"

namespace memoir {

struct FigureSources {
  const Capture& capture;
  const std::optional<std::string>& device;  // the only device checked
  const Summary& summary;
  const Fragmentation& fragmentation;
  const Balance& balance;
  // For module:PATTERN and category:NAME, which need separate analyses.
  std::function<absl::StatusOr<std::uint64_t>(std::string_view figure, const std::string& of)> bytes_of;
};

// A figure over all devices, or of the worst one.
struct CheckedFigure {
  std::optional<double> value;  // bytes, a count, or percent
  std::string unknown;          // the reason if the value is unknown
  // The reason why the real figure may be worse than `value`, because not everything was recorded; else empty.
  std::string incomplete;
  bool least = false;  // smaller values are worse
};
// `of` is the module or category.
CheckedFigure FigureOf(std::string_view figure, const std::string& of, bool percent, const FigureSources& checked);

}  // namespace memoir

#endif  // TOOLS_CLI_CHECK_CHECK_FIGURES_H_
