// The figures that `memoir check --fail-if` compares: what a capture knows of each, and the true reason where it does
// not.
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

struct CheckedFigures {
  const Capture& capture;
  const std::optional<std::string>& device;  // that alone was looked at
  const Summary& summary;
  const Fragmentation& fragmentation;
  const Balance& balance;
  // Of module:PATTERN and category:NAME, by an analysis of their own.
  std::function<absl::StatusOr<std::uint64_t>(std::string_view figure, const std::string& of)> bytes_of;
};

// Of all devices together, or of the worst.
struct CheckedFigure {
  std::optional<double> value;  // bytes, a count, or percent
  std::string unknown;          // why there is none
  // The figure may be worse than `value`, because not all was recorded; why, or "".
  std::string incomplete;
  bool least = false;  // worse is less
};
// `of`: which module or category.
CheckedFigure FigureOf(std::string_view figure, const std::string& of, bool percent, const CheckedFigures& checked);

}  // namespace memoir

#endif  // TOOLS_CLI_CHECK_CHECK_FIGURES_H_
