// Counts of a recording with detail=auto: its steps, and the blocks of steps that were recorded without operators
// (repeats/matching_blocks.h).
#ifndef TOOLS_MODEL_REPEATED_STEP_COUNTS_H_
#define TOOLS_MODEL_REPEATED_STEP_COUNTS_H_

#include <cstdint>

#include "memoir/v1/capture.pb.h"

namespace memoir {

// True if the process was recorded with detail=auto.
bool HasRepeatedSteps(const v1::ProcessInfo& process);

// Counts of one process. All are 0 if the process was not recorded with detail=auto.
struct RepeatedStepCounts {
  std::uint64_t steps = 0, full_steps = 0;  // steps that began, and how many of them were recorded in full
  // Blocks of steps without recorded operators: blocks with inferred operators, and blocks with unknown operators.
  std::uint64_t inferred_blocks = 0, inferred_bytes = 0;
  std::uint64_t unknown_blocks = 0, unknown_bytes = 0;

  // Adds the counts of `other`, multiplied by `times`.
  void Add(const RepeatedStepCounts& other, std::uint64_t times) {
    for (std::uint64_t RepeatedStepCounts::*const of :
         {&RepeatedStepCounts::steps, &RepeatedStepCounts::full_steps, &RepeatedStepCounts::inferred_blocks,
          &RepeatedStepCounts::inferred_bytes, &RepeatedStepCounts::unknown_blocks, &RepeatedStepCounts::unknown_bytes})
      this->*of += times * (other.*of);
  }
  // Returns the counts minus `before`.
  RepeatedStepCounts Since(const RepeatedStepCounts& before) const {
    RepeatedStepCounts since = *this;
    since.Add(before, ~std::uint64_t{0});  // subtracts `before` once
    return since;
  }
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPEATED_STEP_COUNTS_H_
