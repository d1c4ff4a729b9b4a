// When the host blocks of a cycle of steps live that comes again and again, with the same blocks each time.
#ifndef TOOLS_MODEL_CYCLE_LIVES_H_
#define TOOLS_MODEL_CYCLE_LIVES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tools/read/stretch.h"

namespace memoir {

// Events are counted from the cycle's first on, through the cycles behind it; those of cycles before are negative.
class CycleLives {
 public:
  explicit CycleLives(const std::vector<const Stretch*>& steps);

  std::size_t steps() const { return begins_.size() - 1; }
  std::int64_t length() const { return begins_.back(); }
  // Of a step, counted like events; nothing: the cycle's step has not so many.
  std::optional<std::int64_t> EventOf(std::int64_t step, std::uint32_t event) const;
  std::int64_t BeginOf(std::int64_t step) const;
  // The free of the block that an event allocates; nothing: the cycle allocates none there that it frees.
  std::optional<std::int64_t> FreeOf(std::int64_t event) const;
  // The events that allocate what lives before an event, in their order.
  std::vector<std::int64_t> LivingBefore(std::int64_t event) const;

 private:
  struct Life {
    std::int64_t event = 0, length = 0;
  };
  std::vector<std::int64_t> begins_;   // of the cycle's steps, and of the next cycle
  std::vector<Life> lives_;            // of blocks that the cycle allocates
  std::vector<std::int64_t> lengths_;  // by event; 0: it allocates none
};

}  // namespace memoir

#endif  // TOOLS_MODEL_CYCLE_LIVES_H_
