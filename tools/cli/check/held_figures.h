// Figures of --fail-if for a part of the memory: module:PATTERN and category:NAME.
#ifndef TOOLS_CLI_CHECK_HELD_FIGURES_H_
#define TOOLS_CLI_CHECK_HELD_FIGURES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"

namespace memoir {

// Both functions return a figure of the GPU with the largest figure, or of the selected device. An error contains the
// reason why the figure is unknown.

// Returns the maximum of the bytes that blocks of these modules, and of modules inside them, had at one time.
absl::StatusOr<std::uint64_t> MostOfModules(const Capture& capture, SummaryOptions options, const std::string& pattern);

// Returns the bytes of a category at the peak, with all its details ("activation"), or with one ("activation
// (recomputed)").
absl::StatusOr<std::uint64_t> CategoryAtPeak(const Capture& capture, SummaryOptions options, const std::string& name);

}  // namespace memoir

#endif  // TOOLS_CLI_CHECK_HELD_FIGURES_H_
