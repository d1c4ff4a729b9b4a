// The times that a CUDA allocator could not give what was asked for: who asked, for how much, and who held the bytes.
#ifndef TOOLS_ANALYZE_OUT_OF_MEMORY_H_
#define TOOLS_ANALYZE_OUT_OF_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/options.h"
#include "tools/model/capture.h"

namespace memoir {

struct Holder {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

struct OutOfMemory {
  std::string device;
  ProcessId process;
  std::optional<std::uint32_t> rank;  // empty: of no rank
  std::uint64_t ns = 0;
  std::uint64_t asked_bytes = 0;  // as the allocator rounded them
  std::uint64_t device_free = 0;  // as the driver said
  std::string operator_name;      // "" outside of any, as the next four
  std::string leaf_name;          // innermost range
  std::string range_name;         // innermost user range
  std::string module;             // path, or the root where that is empty
  std::string module_class;
  Phase phase = Phase::kOther;
  std::optional<std::uint64_t> step;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t active_bytes = 0;
  std::uint64_t reserved_bytes = 0;
  std::vector<Holder> by_operator;  // of allocated bytes, largest first
  std::vector<Holder> by_module;
};

// In order; of more than kMostOutOfMemory only the newest.
inline constexpr std::size_t kMostOutOfMemory = 16;
absl::StatusOr<std::vector<OutOfMemory>> AnalyzeOutOfMemory(const Capture& capture, const Selection& selection);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_OUT_OF_MEMORY_H_
