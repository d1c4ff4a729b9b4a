// Figures of --fail-if that are of a part of the memory: module:PATTERN and category:NAME.
#ifndef TOOLS_CLI_CHECK_HELD_FIGURES_H_
#define TOOLS_CLI_CHECK_HELD_FIGURES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"

namespace memoir {

// Both: of the GPU with most of it, or of the device that was chosen. Errors say why it is not known.

// The most that blocks of these modules, and of those inside them, had at once.
absl::StatusOr<std::uint64_t> MostOfModules(const Capture& capture, SummaryOptions options, const std::string& pattern);

// What of the peak is of a category, in all its details ("activation"), or in one ("activation (recomputed)").
absl::StatusOr<std::uint64_t> CategoryAtPeak(const Capture& capture, SummaryOptions options, const std::string& name);

}  // namespace memoir

#endif  // TOOLS_CLI_CHECK_HELD_FIGURES_H_
