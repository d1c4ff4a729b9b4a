// Figures of --fail-if for a part of the memory: module:PATTERN and category:NAME.
#ifndef TOOLS_CLI_CHECK_HELD_FIGURES_H_
#define TOOLS_CLI_CHECK_HELD_FIGURES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"

namespace memoir {

// Both functions return the figure of the selected device. If no device is selected, they return the largest figure of
// all GPUs. An error contains the reason why the figure is unknown.

// Returns the most bytes that blocks of the modules `pattern`, and of modules inside them, had at one time.
absl::StatusOr<std::uint64_t> MostOfModules(const Capture& capture, SummaryOptions options, const std::string& pattern);

// Returns the bytes of a category at the peak. The name "activation" covers all details of this category. The name
// "activation (recomputed)" covers only one detail.
absl::StatusOr<std::uint64_t> CategoryAtPeak(const Capture& capture, SummaryOptions options, const std::string& name);

}  // namespace memoir

#endif  // TOOLS_CLI_CHECK_HELD_FIGURES_H_
