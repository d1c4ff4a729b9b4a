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
  const std::optional<std::string>& device;  // the only device that is checked; nullopt: all devices
  const Summary& summary;
  const Fragmentation& fragmentation;
  const Balance& balance;
  // Returns the bytes of module:PATTERN or category:NAME, which need separate analyses.
  std::function<absl::StatusOr<std::uint64_t>(std::string_view figure, const std::string& of)> bytes_of;
};

// A figure: the sum over all devices, or the figure of the worst device.
struct CheckedFigure {
  std::optional<double> value;  // bytes, a count, or percent
  std::string unknown;          // the reason if the value is unknown
  // The reason why the real figure may be worse than `value`: not everything was recorded. Empty if all was recorded.
  std::string incomplete;
  bool least = false;  // smaller values are worse
};
// Returns the figure `figure`, in percent if `percent` is true. `of`: the module or category; "" for other figures.
CheckedFigure FigureOf(std::string_view figure, const std::string& of, bool percent, const FigureSources& checked);

}  // namespace memoir

#endif  // TOOLS_CLI_CHECK_CHECK_FIGURES_H_
