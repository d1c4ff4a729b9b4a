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

  void Add(const KnownSteps& other, std::uint64_t times) {
    for (std::uint64_t KnownSteps::*const of :
         {&KnownSteps::steps, &KnownSteps::full_steps, &KnownSteps::inferred_blocks, &KnownSteps::inferred_bytes,
          &KnownSteps::unknown_blocks, &KnownSteps::unknown_bytes})
      this->*of += times * (other.*of);
  }
  KnownSteps Since(const KnownSteps& before) const {
    KnownSteps since = *this;
    since.Add(before, ~std::uint64_t{0});  // minus once
    return since;
  }
};

}  // namespace memoir

#endif  // TOOLS_MODEL_KNOWN_STEPS_H_
