// What the capture of a simulated run adds to the report of its device: torch's own figures, the owners of the peak,
// and where memory ran out.
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
  std::string operator_name;  // outermost; "" outside of any
  std::string module;         // path, or the root where that is empty; "" outside of any
  Phase phase = Phase::kOther;
  std::uint64_t asked = 0;  // bytes, as torch rounded them
};

struct FitRecording {
  std::string torch_version;                   // "2.11.0"
  std::uint64_t peak_allocated = 0;            // of the device, as torch.cuda.max_memory_allocated
  std::optional<std::uint64_t> peak_reserved;  // as torch.cuda.max_memory_reserved
  // Of peak_allocated, greatest first; each adds up to it.
  std::vector<FitRow> by_operator, by_module, by_phase;
  std::optional<FitOutOfMemory> out_of_memory;  // the first
  // Blocks stayed active after the program gave them back (record_stream): how long depends on how far the GPU lags.
  bool holds_back = false;
};

// Of device "cuda:<ordinal>" of process `pid`; nothing where the capture holds no allocation and no error there.
// `progress` may be empty; it is called with the part done, 0..1.
absl::StatusOr<std::optional<FitRecording>> AnalyzeFitRecording(const Capture& capture, std::uint64_t pid,
                                                                std::uint64_t ordinal,
                                                                const std::function<void(double)>& progress);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_FIT_FIT_RECORDING_H_
