// The allocated, active and reserved bytes of a caching allocator after each operator call, with the module and phase
// of each call and the markers of every iteration. This is the content of MemoryTracker's plots, with exact bytes.
//
// Only calls of outermost operators count. A call counts when it ends. Needs 32 bytes of memory for each call, and 24
// more for each device of the call's process.
#ifndef TOOLS_ANALYZE_TIME_OPERATOR_CURVE_H_
#define TOOLS_ANALYZE_TIME_OPERATOR_CURVE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/iterations.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

struct DeviceBytes {
  std::uint64_t allocated = 0;
  std::uint64_t active = 0;
  std::uint64_t reserved = 0;
};

struct OperatorCall {
  static constexpr std::uint32_t kNoModule = 0xffffffffu;
  static constexpr std::uint64_t kNoNumber = ~std::uint64_t{0};
  std::uint32_t name = 0;            // index in OperatorCurve::names
  std::uint32_t module = kNoModule;  // index in OperatorCurve::modules
  Phase phase = Phase::kOther;
  std::uint64_t end_ns = 0;
  // Number among calls of the same name (OperatorNumbers). kNoNumber: the call began before the window.
  std::uint64_t number = kNoNumber;
};

struct DeviceOperators {
  std::string name;                     // "cuda:0"
  std::vector<DeviceBytes> after;       // by index in ProcessOperators::calls
  std::uint64_t num_alloc_retries = 0;  // in the window
  std::uint64_t num_ooms = 0;
  // Returns the change of allocated bytes between the end of the previous call and the end of this call. 0 for the
  // first call, as in MemoryTracker.
  std::int64_t AddedBy(std::size_t call) const {
    return call == 0 ? 0 : static_cast<std::int64_t>(after[call].allocated - after[call - 1].allocated);
  }
};

// A process that has a device with a caching allocator.
struct ProcessOperators {
  ProcessId process;
  std::optional<std::uint32_t> rank;  // empty: the process has no rank
  std::vector<OperatorCall> calls;
  std::vector<DeviceOperators> devices;
  std::vector<Iteration> iterations;  // IterationInstant::calls counts entries of `calls`
};

struct OperatorCurve {
  std::vector<std::string> names;
  std::vector<Module> modules;
  std::vector<ProcessOperators> processes;
  ReplayReport report;
};

// Returns the same errors as AnalyzeSummary. Also returns NotFound if no selected device has a caching allocator.
absl::StatusOr<OperatorCurve> AnalyzeOperatorCurve(const Capture& capture, const Selection& selection);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TIME_OPERATOR_CURVE_H_
