// Facts about a device that come from the capture of a simulated run, because the simulation's report lacks them:
// torch's own figures, the parts of the peak, and the place of an out-of-memory error.
#ifndef TOOLS_ANALYZE_FIT_FIT_RECORDING_H_
#define TOOLS_ANALYZE_FIT_FIT_RECORDING_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/model/capture.h"

namespace memoir {

struct FitRow {
  std::string name;
  std::uint64_t bytes = 0;
};

struct FitOutOfMemory {
  std::string operator_name;  // outermost operator; empty: outside of operators
  std::string module;         // path, or the root if the path is empty; empty: outside of modules
  Phase phase = Phase::kOther;
  std::uint64_t asked = 0;  // requested bytes, as torch rounded them
};

struct FitRecording {
  std::string torch_version;                   // "2.11.0"
  std::uint64_t peak_allocated = 0;            // equals torch.cuda.max_memory_allocated for the device
  std::optional<std::uint64_t> peak_reserved;  // equals torch.cuda.max_memory_reserved for the device
  // Parts of peak_allocated, largest first. The rows of each list sum to peak_allocated.
  std::vector<FitRow> by_operator, by_module, by_phase;
  std::optional<FitOutOfMemory> out_of_memory;  // the first error
  // True if blocks stayed active after the program freed them (record_stream). The time until such a block is reused
  // depends on how far the GPU lags behind the program.
  bool holds_back = false;
};

// Analyzes device "cuda:<ordinal>" of process `pid`. nullopt if the capture has no allocation and no out-of-memory
// error on this device. `progress` may be empty; otherwise it is called with the completed fraction, 0..1.
absl::StatusOr<std::optional<FitRecording>> AnalyzeFitRecording(const Capture& capture, std::uint64_t pid,
                                                                std::uint64_t ordinal,
                                                                const std::function<void(double)>& progress);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_FIT_FIT_RECORDING_H_
