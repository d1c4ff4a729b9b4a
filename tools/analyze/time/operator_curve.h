// What a device's caching allocator held after each operator call: allocated, active and reserved bytes, call by call,
// with the module and phase of each, and the markers of every iteration. What MemoryTracker plots, with exact bytes.
//
// An operator call is an outermost one (decision 1); it counts when it ends. Takes 32 bytes of memory a call, and 24
// more for each device of its process.
#ifndef TOOLS_ANALYZE_TIME_OPERATOR_CURVE_H_
#define TOOLS_ANALYZE_TIME_OPERATOR_CURVE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/iterations.h"
#include "tools/analyze/pass/options.h"
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
  std::uint64_t number = kNoNumber;  // among calls of its name (OperatorNumbers); kNoNumber: began before the window
};

struct DeviceOperators {
  std::string name;                     // "cuda:0"
  std::vector<DeviceBytes> after;       // each call of the process, in order
  std::uint64_t num_alloc_retries = 0;  // in the window
  std::uint64_t num_ooms = 0;
  // By how much the call changed allocated bytes, counted from the end of the call before it. 0 for the first, as of
  // MemoryTracker: what was there before it is not its own.
  std::int64_t AddedBy(std::size_t call) const {
    return call == 0 ? 0 : static_cast<std::int64_t>(after[call].allocated - after[call - 1].allocated);
  }
};

// A process that has a device with a caching allocator.
struct ProcessOperators {
  ProcessId process;
  std::optional<std::uint32_t> rank;  // empty: of no rank
  std::vector<OperatorCall> calls;
  std::vector<DeviceOperators> devices;
  std::vector<Iteration> iterations;  // Moment::calls counts `calls`
};

struct OperatorCurve {
  std::vector<std::string> names;
  std::vector<Module> modules;
  std::vector<ProcessOperators> processes;
  ReplayReport report;
};

// NotFound as AnalyzeSummary, and when no device of the selection has a caching allocator.
absl::StatusOr<OperatorCurve> AnalyzeOperatorCurve(const Capture& capture, const Selection& selection);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TIME_OPERATOR_CURVE_H_
