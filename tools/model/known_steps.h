// What a replay found of a recording with detail=auto: how much of it is inferred (known_blocks.h).
#ifndef TOOLS_MODEL_KNOWN_STEPS_H_
#define TOOLS_MODEL_KNOWN_STEPS_H_

#include <cstdint>

#include "memoir/v1/capture.pb.h"

namespace memoir {

// Whether it was recorded with detail=auto.
bool RepeatsSteps(const v1::ProcessInfo& process);

// Of a process; all 0 of a recording with another detail.
struct KnownSteps {
  std::uint64_t steps = 0, full_steps = 0;  // that began; of these in full
  // Of steps that were recorded without operators: blocks of which these are inferred, and the others.
  std::uint64_t inferred_blocks = 0, inferred_bytes = 0;
  std::uint64_t unknown_blocks = 0, unknown_bytes = 0;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_KNOWN_STEPS_H_
