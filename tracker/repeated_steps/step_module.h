// Chooses the module whose calls begin steps, in a program that marks no steps. This is the first module of which
// kCallsOfStepModule outermost calls have begun.
//
//     text encoder ─ U-Net ─ U-Net ─ ··· ─ U-Net ─ decoder       the U-Net is chosen
//     encoder ─ decoder ─ encoder ─ decoder ─ ···                 the encoder is chosen
//
// A program that trains calls its optimizer before a module has so many calls, and steps of optimizers take precedence.
// If another module is called kCallsOfStepModule times while the chosen module is not called, the other module is
// chosen instead. So if a program loads one model after another, the calls of each model become steps.
//
// Modules are identified by address, so a module at the address of a freed module continues the freed module's count.
// Call it on one thread at a time.
#ifndef TRACKER_REPEATED_STEPS_STEP_MODULE_H_
#define TRACKER_REPEATED_STEPS_STEP_MODULE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace memoir {

inline constexpr std::uint32_t kCallsOfStepModule = 16;

class StepModule {
 public:
  // Call it when a call of `module` begins. Returns the number of the step that begins with the call; nullopt if no
  // step begins. The number of a step is the number of earlier calls of the chosen module. So in a program with one
  // model, the steps have the numbers of the model's calls.
  std::optional<std::uint64_t> NoteCall(std::uint64_t module);

 private:
  // A module that is not chosen. `calls`: number of its calls while `step` was the number of the next step. These calls
  // no longer count once the chosen module is called, because the next step then has another number.
  struct Candidate {
    std::uint64_t module = 0, step = 0;
    std::uint32_t calls = 0;
  };
  Candidate& Find(std::uint64_t module);

  static constexpr std::size_t kCandidates = 256;
  std::array<Candidate, kCandidates> candidates_{};
  std::uint64_t chosen_ = 0;
  std::uint64_t next_ = 0;  // number of the next step
};

}  // namespace memoir

#endif  // TRACKER_REPEATED_STEPS_STEP_MODULE_H_
