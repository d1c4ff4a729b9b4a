// The step patterns of a part by their ids (docs/capture_format.md, "Stretches").
#ifndef TOOLS_MODEL_REPEATS_STEP_PATTERN_TABLE_H_
#define TOOLS_MODEL_REPEATS_STEP_PATTERN_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "tools/read/chunk/step_pattern.h"

namespace memoir {

// The table bounds its memory. If a capture defines more patterns than kMostPatterns, or more events than kMostEvents,
// the table removes the patterns that were not used for the longest time.
class StepPatternTable {
 public:
  void Define(const std::shared_ptr<const StepPattern>& pattern);
  std::shared_ptr<const StepPattern> Find(std::uint32_t id);  // returns nullptr if the pattern is unknown
  void Clear();

 private:
  static constexpr std::size_t kMostPatterns = 256;  // a recorder has at most 16 patterns at the same time
  static constexpr std::uint64_t kMostEvents = 1u << 22;
  struct Entry {
    std::shared_ptr<const StepPattern> pattern;
    std::uint64_t used = 0;  // value of uses_ when the pattern was defined or found last
  };
  absl::flat_hash_map<std::uint32_t, Entry> entries_;
  std::uint64_t events_ = 0, uses_ = 0;  // events in the table; calls of Define and Find so far
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPEATS_STEP_PATTERN_TABLE_H_
